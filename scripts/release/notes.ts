import { StartError } from '../../lib/platform/kernel/errors.ts'

/** A version's release notes: its section in the changelog. Without a version, the notes of the next one. */
export function notesFor(changelog: string, version: string | undefined): string {
  const title = version ?? 'Unreleased'
  const chapters = changelog.split(/^## /m).slice(1)
  const chapter = chapters.find((text) => text.split(/[\s,]/)[0] === title)
  const notes = chapter?.split('\n').slice(1).join('\n').trim()
  if (!notes)
    throw new StartError(`CHANGELOG.md has no section "## ${title}" with text in it. Write it first.`)
  return `${notes}\n`
}
