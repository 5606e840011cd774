import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildIfNeeded } from '../build.ts'
import { readOptions, runScript } from '../read-options.ts'
import { type Staged, stageServer } from './stage-server.ts'
import { type Artefact, FOLDER, tarballOf, writeTarball } from './write-tarball.ts'

/** `npm run pack-server`: builds and writes the server package, for the image and for the release. */
export async function packServer(): Promise<{ staged: Staged; artefact: Artefact }> {
  await buildIfNeeded()
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const staged = await stageServer(join(FOLDER, 'server'))
  return { staged, artefact: await writeTarball(staged.folder, tarballOf(staged)) }
}

if (import.meta.main) {
  readOptions('npm run pack-server', {})
  await runScript(async () => {
    const { artefact } = await packServer()
    console.log(`${artefact.file}: ${artefact.bytes} bytes`)
  })
}
