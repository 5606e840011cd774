import { StartError } from '../../lib/platform/kernel/errors.ts'

/** A version's release notes: its chapter in the changelog. Without a version, those of the next one. */
export function notesFor(changelog: string, version: string | undefined): string {
  const title = version ?? 'Unreleased'
  const chapters = changelog.split(/^## /m).slice(1)
  const chapter = chapters.find((text) => text.split(/[\s,]/)[0] === title)
  const notes = chapter?.split('\n').slice(1).join('\n').trim()
  if (!notes)
    throw new StartError(`CHANGELOG.md has no chapter "## ${title}" with text in it. Write it first.`)
  return `${notes}\n`
}
