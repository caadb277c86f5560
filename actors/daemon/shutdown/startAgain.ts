/** Tells systemd to start a program again that has ended by itself (`RestartForceExitStatus=` of the unit). */
export const startAgainStatus = 75;
