import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { readJournal } from '../../persistence/journalReading.ts';
import { migrations } from '../../persistence/migrations.ts';
import { openStore, type StoreOptions } from '../../persistence/store.ts';
import { tickingClock } from './support/clock.ts';
import { opened, stateDirIn, temporaryDirectory } from './support/temporaryStore.ts';
import { refusal } from './support/thrown.ts';

const clock = tickingClock();
const fingerprint = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
const open = (stateDir: string, more: Partial<StoreOptions> = {}) =>
  openStore({ stateDir, clock, create: false, ...more });

/** A closed store with something in it. */
function existing(): { stateDir: string; database: string } {
  const stateDir = stateDirIn(temporaryDirectory());
  const store = open(stateDir, { create: true });
  store.write(() => store.meta.set('test.kept', 'yes'));
  store.close();
  return { stateDir, database: join(stateDir, 'custody.db') };
}

describe('JRN-09: initialisation replaces nothing', () => {
  it('makes a store only on request', () => {
    const stateDir = stateDirIn(temporaryDirectory());
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_missing', exitCode: 9 });
    expect(() => statSync(stateDir)).toThrow('ENOENT');
    const store = open(stateDir, { create: true });
    expect(store).toMatchObject({ created: true, epoch: 1, startNumber: 1, restored: undefined });
    expect(store.installationId).toMatch(/^I[0-9a-hjkmnp-tv-z]{10}$/);
    store.close();
  });

  it('leaves nothing behind when an existing directory has no store', () => {
    const stateDir = stateDirIn(temporaryDirectory());
    mkdirSync(stateDir, { mode: 0o700 });
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_missing' });
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('takes a long path', () => {
    const stateDir = join(temporaryDirectory(), 'n'.repeat(150), 'n'.repeat(150));
    open(stateDir, { create: true }).close();
    open(stateDir).close();
  });

  it('opens what is there instead of making it anew', () => {
    const { stateDir } = existing();
    const store = open(stateDir, { create: true });
    expect(store.created).toBe(false);
    expect(store.meta.get('test.kept')).toBe('yes');
    store.close();
  });

  it.each([
    ['an overwritten header', (path: string) => writeFileSync(path, Buffer.alloc(4096, 0x5a), { flag: 'r+' })],
    ['no content at all', (path: string) => truncateSync(path, 0)],
    ['half a page', (path: string) => truncateSync(path, 2048)],
    ['the database of another program', (path: string) => foreignDatabase(path)],
  ])('refuses a file with %s and leaves it as it is', (_, damage) => {
    const { stateDir, database } = existing();
    damage(database);
    const before = fingerprint(database);
    for (const create of [false, true]) {
      expect(refusal(() => open(stateDir, { create }))).toMatchObject({ code: 'store_corrupt', exitCode: 9 });
    }
    expect(fingerprint(database)).toBe(before);
  });

  it('refuses a newer schema and leaves file and log as they are', () => {
    const { stateDir, database } = existing();
    const future = { version: 99, name: 'from the future', sql: 'CREATE TABLE future (a TEXT) STRICT' };
    open(stateDir, { faults: { migrations: [...migrations, future] } }).close();
    const before = fingerprint(database);
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_newer', exitCode: 9 });
    expect(refusal(() => [...readJournal(stateDir)])).toMatchObject({ code: 'store_newer', exitCode: 9 });
    expect(fingerprint(database)).toBe(before);
  });

  it('does not move the write-ahead log of a store that it refuses', () => {
    const { database } = existing();
    // A newer program that was killed leaves its schema in the log only; copying the files is as good as a kill.
    const newer = new Database(database);
    newer.pragma('wal_autocheckpoint = 0');
    newer.pragma('user_version = 99');
    const stateDir = stateDirIn(temporaryDirectory());
    mkdirSync(stateDir, { mode: 0o700 });
    const files = ['', '-wal'].map((suffix) => join(stateDir, `custody.db${suffix}`)) as [string, string];
    copyFileSync(database, files[0]);
    copyFileSync(`${database}-wal`, files[1]);
    newer.close();
    const before = files.map(fingerprint);
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_newer' });
    expect(files.map(fingerprint)).toEqual(before);
  });

  it('finishes or removes what an interrupted founding left', () => {
    const { stateDir, database } = existing();
    writeFileSync(`${database}.new`, 'half made', { mode: 0o600 });
    open(stateDir).close();
    expect(readdirSync(stateDir)).not.toContain('custody.db.new');
    const empty = stateDirIn(temporaryDirectory());
    mkdirSync(empty, { mode: 0o700 });
    writeFileSync(join(empty, 'custody.db.new'), 'half made', { mode: 0o600 });
    const store = open(empty, { create: true });
    expect(store.created).toBe(true);
    store.close();
  });
});

function foreignDatabase(path: string): void {
  truncateSync(path, 0);
  const other = new Database(path);
  other.exec('CREATE TABLE theirs (a TEXT)');
  other.close();
}

describe('JRN-07: effective settings and file systems', () => {
  it('runs in WAL with full synchronisation and foreign keys', () => {
    const { stateDir } = existing();
    const seen: Record<string, unknown> = {};
    const readBack = (setting: string, value: unknown) => {
      seen[setting] = value;
      return value;
    };
    open(stateDir, { faults: { readBack } }).close();
    expect(seen).toMatchObject({ journal_mode: 'wal', synchronous: 2, foreign_keys: 1, busy_timeout: 250 });
  });

  it.each([
    ['journal_mode', 'delete'],
    ['synchronous', 1],
    ['foreign_keys', 0],
    ['busy_timeout', 0],
  ])('refuses to serve when %s reads back as %s', (name, value) => {
    const { stateDir } = existing();
    const readBack = (setting: string, real: unknown) => (setting === name ? value : real);
    expect(refusal(() => open(stateDir, { faults: { readBack } }))).toMatchObject({
      code: 'store_filesystem',
      exitCode: 9,
    });
  });

  it.each([
    ['nfs', 0x6969],
    ['cifs', 0xff534d42],
    ['fuse', 0x65735546],
    ['9p', 0x01021997],
    ['virtiofs', 0x6a656a63],
    ['an unknown one', 0x12345678],
  ])('refuses the file system %s before touching anything', (_, filesystemType) => {
    const { stateDir } = existing();
    const names = readdirSync(stateDir);
    const attempt = () => open(stateDir, { create: true, faults: { filesystemType } });
    expect(refusal(attempt)).toMatchObject({ code: 'store_filesystem', exitCode: 9 });
    expect(readdirSync(stateDir)).toEqual(names);
  });

  it.each([
    ['ext', 0xef53, undefined],
    ['xfs', 0x58465342, undefined],
    ['f2fs', 0xf2f52010, undefined],
    // statfs answers with a signed number on some platforms.
    ['f2fs', 0xf2f52010 | 0, undefined],
    ['tmpfs', 0x01021994, undefined],
    ['btrfs', 0x9123683e, 'filesystem_copy_on_write'],
    ['zfs', 0x2fc12fc1, 'filesystem_copy_on_write'],
    ['overlay', 0x794c7630, 'filesystem_overlay'],
  ])('accepts %s', (name, filesystemType, warning) => {
    const { stateDir } = existing();
    const store = open(stateDir, { faults: { filesystemType } });
    expect(store.filesystem).toBe(name);
    expect(store.warnings.map(({ code }) => code)).toEqual(warning ? [warning] : []);
    store.close();
  });
});

describe('JRN-08: private directory, private files', () => {
  it.each([0o000, 0o022, 0o077, 0o777])('makes them 0700 and 0600 under umask %o', (mask) => {
    const stateDir = join(temporaryDirectory(), 'deep', 'state');
    const previous = process.umask(mask);
    let store: ReturnType<typeof openStore>;
    try {
      store = open(stateDir, { create: true });
      store.write(() => store.meta.set('test.x', '1'));
    } finally {
      process.umask(previous);
    }
    expect(modeOf(stateDir)).toBe('700');
    const files = readdirSync(stateDir).sort();
    expect(files).toEqual(['custody.db', 'custody.db-shm', 'custody.db-wal', 'custody.start', 'lock.db']);
    expect(files.map((name) => modeOf(join(stateDir, name)))).toEqual(files.map(() => '600'));
    store.close();
  });

  it('repairs what others could only read, and says so', () => {
    const { stateDir, database } = existing();
    chmodSync(stateDir, 0o755);
    chmodSync(database, 0o644);
    const store = open(stateDir);
    expect(store.warnings.map(({ code }) => code)).toEqual(['permissions_repaired', 'permissions_repaired']);
    expect([modeOf(stateDir), modeOf(database)]).toEqual(['700', '600']);
    store.close();
  });

  it('repairs an open directory only while it is empty', () => {
    const stateDir = stateDirIn(temporaryDirectory());
    mkdirSync(stateDir);
    chmodSync(stateDir, 0o777);
    opened({ stateDir }).close();
    expect(modeOf(stateDir)).toBe('700');
    chmodSync(stateDir, 0o777);
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_permissions', exitCode: 9 });
    expect(modeOf(stateDir)).toBe('777');
  });

  it('refuses a database that others could write', () => {
    const { stateDir, database } = existing();
    chmodSync(database, 0o666);
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_permissions', exitCode: 9 });
  });

  it('refuses what belongs to somebody else', () => {
    // Root can give a directory away; everybody else is a stranger to the root directory.
    const foreign = process.getuid?.() === 0 ? stateDirIn(temporaryDirectory()) : '/';
    if (foreign !== '/') {
      mkdirSync(foreign, { mode: 0o700 });
      chownSync(foreign, 65_534, 65_534);
    }
    expect(refusal(() => open(foreign, { create: true }))).toMatchObject({ code: 'store_permissions', exitCode: 9 });
  });

  it('refuses links and other things in place of the database', () => {
    const { stateDir, database } = existing();
    const elsewhere = stateDirIn(temporaryDirectory());
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(database, join(elsewhere, 'custody.db'));
    expect(refusal(() => open(elsewhere))).toMatchObject({ code: 'store_permissions' });
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(refusal(() => open(file))).toMatchObject({ code: 'store_permissions' });
    expect(refusal(() => open(join(file, 'below')))).toMatchObject({ code: 'store_permissions' });
    linkSync(database, `${database}.second`);
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'store_permissions' });
  });
});
