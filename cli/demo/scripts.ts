/** The parts that are played: what is asked, who does it, who checks it, and who stays behind. Plain sh, no model. */

/** The file that the agent is asked for, at the top of the worktree. */
export const resultFile = 'CUSTODY-DEMO.md';

export const title = 'Take a census';

/** Short enough for a row of the agent's terminal. */
export const request = `Count files and commits, and commit the figures as ${resultFile}.`;

/** What it asks before each of its three steps, so that nobody has to guess how far it has come. */
export const questions = {
  files: 'may I count the files?',
  commits: 'may I count the commits too?',
  commit: 'may I commit?',
} as const;

/** Its questions and their answers are lines of a terminal, whoever types there. */
const agent = `# The scripted agent of the demonstration.
set -eu
export GIT_AUTHOR_NAME='Demo agent' GIT_AUTHOR_EMAIL=agent@example.org
export GIT_COMMITTER_NAME='Demo agent' GIT_COMMITTER_EMAIL=agent@example.org
export GIT_CONFIG_NOSYSTEM=1

ask() {
  printf '\\033[1masks: %s\\033[0m ' "$1"
  read -r answer
  test "$answer" = yes
}

echo "reads: $(cat "$CUSTODY_REQUEST_FILE")"
ask '${questions.files}'
files=$(($(git ls-files | wc -l)))
echo "files $files" > ${resultFile}
echo "writes: files $files"
ask '${questions.commits}'
commits=$(git rev-list --count HEAD)
echo "commits $commits" >> ${resultFile}
echo "writes: commits $commits"
ask '${questions.commit}'
git add -f ${resultFile}
git commit -q -m 'Count files and commits'
echo "commits: $(git rev-parse HEAD)"
`;

/** Does the sums again, from the commit before. */
const check = `# The check of the demonstration.
set -eu
export GIT_CONFIG_NOSYSTEM=1
git log -1 --format='commit %H'
git diff --check HEAD~1 HEAD
files=$(($(git ls-tree -r --name-only HEAD~1 | wc -l)))
commits=$(git rev-list --count HEAD~1)
counted=$(git show HEAD:${resultFile})
test "$counted" = "files $files
commits $commits" || { echo "wrong: $counted; there are $files files and $commits commits"; exit 1; }
echo "right: $files files, $commits commits"
`;

export const scripts: Readonly<Record<string, string>> = {
  'request.txt': `${request}\n`,
  'agent.sh': agent,
  'check.sh': check,
};

/** Its own session, so that neither its parent's end nor a signal to a process group reaches it. */
export const escapeeCommand = ['sh', '-c', 'setsid sleep 600 & echo "leaves: pid $!"'] as const;

/** What the scripts call, besides what every shell has built in. */
export const tools = ['git', 'sh', 'setsid', 'sleep', 'wc', 'cat', 'grep', 'ls'] as const;
