import { readFileSync } from 'node:fs'

/** What README has people type in one of its chapters, as it stands there. */
export function readmeCommands(title: string): string {
  const chapter = readFileSync('README.md', 'utf8').split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!
  return [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, command]) => command).join('\n')
}
