import { chmodSync, existsSync, lchownSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../../kernel/errors.ts'
import { PASSWORD_FILE } from './make-cluster.ts'
import type { RunAs } from './run-as.ts'

/** Whether PostgreSQL's folder is there; an error if it is there but not for us. */
export function clusterIsThere(folder: string, major: number, as: RunAs | undefined): boolean {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return false
  const uid = as?.uid ?? process.getuid?.()
  // PostgreSQL never runs as root, so this is a copy that root has made.
  const isCopy = as !== undefined && found.uid === 0
  if (uid !== undefined && found.uid !== uid && !isCopy) {
    const who = `user ${found.uid}, and PostgreSQL has to run as its owner, but would run as user ${uid}`
    throw new StartError(
      `The folder of the embedded database, ${folder}, belongs to ${who}. Start Sluice as its owner, or give it away: chown -R ${uid} ${folder}`,
    )
  }
  const version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  if (!existsSync(join(folder, PASSWORD_FILE))) {
    throw new StartError(
      `${folder} was not made by this Sluice; early versions kept a PGlite database there, which PostgreSQL cannot open. It is left untouched: move it away, or choose another DATA_DIR.`,
    )
  }
  if (Number(version) !== major) {
    throw new StartError(
      `${folder} was written by PostgreSQL ${version}, but this version of Sluice brings PostgreSQL ${major}, which cannot open it. Start the Sluice that wrote it, run \`npm run backup\`, and restore that into a new DATA_DIR with this one.`,
    )
  }
  if (isCopy) handOver(folder, as)
  return true
}

function handOver(folder: string, { uid, gid }: RunAs): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), uid, gid)
  lchownSync(folder, uid, gid)
  chmodSync(folder, 0o700)
}
