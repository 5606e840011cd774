import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../lib/api/open-api-document.ts'
import { DESCRIBED } from '../lib/api/operations.ts'
import { type Json, nonAdditiveChanges } from './non-additive-changes.ts'

/**
 * The landed API description, from which the clients are generated. `--write` updates it, and rejects a change that
 * is not additive; without it, an outdated description is an error.
 */
const FILE = 'packages/node/openapi.json'

const now = openApiDocument(DESCRIBED, '')
const text = `${JSON.stringify(now, null, 1)}\n`
const landed = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '{}'
const broken = nonAdditiveChanges(JSON.parse(landed) as Json, JSON.parse(text) as Json)

for (const change of broken) console.log(`v1 of the API only accepts additive changes: ${change}`)
if (broken.length > 0) process.exit(1)
if (process.argv.includes('--write')) writeFileSync(FILE, text)
else if (text !== landed) {
  console.log(`${FILE} is out of date: run \`npm run generate -- api\`.`)
  process.exit(1)
}
