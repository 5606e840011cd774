import { execFile } from 'node:child_process'

export type Ran = { code: number; stdout: string; stderr: string }

/** Runs the command-line tool to completion. */
export function runCli(program: string, args: string[], { input = '', env = {} } = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { PATH: process.env.PATH, ...env } as never },
      (error, stdout, stderr) => resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr }),
    )
    child.stdin!.end(input)
  })
}
