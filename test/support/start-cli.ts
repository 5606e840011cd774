import { spawn } from 'node:child_process'

/** Starts the command-line tool from its source, with nothing else in its environment. */
export const startCli = (args: string[], env: Record<string, string>) =>
  spawn(process.execPath, ['packages/cli/src/main.ts', ...args], {
    // Compiling its modules anew for each test would take most of the time.
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: 'node_modules/.cache/cli', ...env } as never,
  })
