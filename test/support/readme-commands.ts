import { readFileSync } from 'node:fs'

/** The commands in one of the README's sections, unchanged. */
export function readmeCommands(title: string): string {
  const chapter = readFileSync('README.md', 'utf8').split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!
  return [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, command]) => command).join('\n')
}
