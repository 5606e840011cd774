import { openLine } from '../../bench/lanes/line.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'

const SETTINGS = {
  ROLES: 'upload',
  HOST: '127.0.0.1',
  PORT: '0',
  BASE_URL: 'http://127.0.0.1:0',
  DATA_DIR: '/nowhere/is-needed',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUTH_SECRET: 'a secret of thirty-two characters',
  ALLOWED_PRIVATE_HOSTS: '*',
  FREE_TIER_BYTES: '0',
  LOG_LEVEL: 'error',
}

/** Two nodes behind a line. Clients reach one of them, and the other one as soon as that is killed. */
export async function openNodes(databaseUrl: string, changes: Record<string, string> = {}) {
  const line = await openLine(false)
  const start = () =>
    startSluice({ ...SETTINGS, ...changes, DATABASE_URL: databaseUrl, UPLOAD_URL: line.url })
  let [serving, spare] = (await Promise.all([start(), start()])) as [Sluice, Sluice]
  const lead = () => {
    line.toPort = Number(new URL(serving.baseUrl).port)
  }
  lead()
  return {
    line,
    async kill() {
      await serving.kill()
      serving = spare
      lead()
      spare = await start()
    },
    async close() {
      line.close()
      await Promise.all([serving.kill(), spare.kill()])
    },
  }
}
