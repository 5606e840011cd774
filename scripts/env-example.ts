import { writeFileSync } from 'node:fs'
import { settings } from '../lib/platform/settings/settings.ts'

/** The text of `.env.example`: every setting with its meaning, none of them set. */
export function envExample(): string {
  const entries = Object.entries(settings).map(
    ([name, { description, example }]) => `# ${description}\n# ${name}=${example}\n`,
  )
  return `# Every setting of Sluice. None is needed to try it. Written by \`node scripts/env-example.ts\`.\n\n${entries.join('\n')}`
}

if (import.meta.main) writeFileSync('.env.example', envExample())
