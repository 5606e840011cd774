import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freezablePostgres } from '../../test/support/freezable-postgres.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'

type Line = { level: number; msg: string; why?: string; err?: unknown }
const WARN = 40

describe('while PostgreSQL is frozen', () => {
  const folder = temporaryFolder()
  let postgres: Awaited<ReturnType<typeof freezablePostgres>>
  let sluice: Sluice
  beforeAll(async () => {
    postgres = await freezablePostgres()
    sluice = await startSluice({ ...settings(folder.path), DATABASE_URL: postgres.url })
  })
  afterAll(async () => {
    postgres?.thaw()
    await sluice?.stop()
    await postgres?.stop()
    folder[Symbol.dispose]()
  })
  const status = async (path: string, init?: RequestInit) => {
    const answer = await fetch(new URL(path, sluice.baseUrl), { redirect: 'manual', ...init })
    return { status: answer.status, text: await answer.text() }
  }
  const authorized = { headers: { Authorization: `Bearer ak_${'A'.repeat(43)}` } }
  const newToken = { method: 'POST', ...authorized, body: '{}' }
  const askAll = () =>
    Promise.all([
      status('/api/v1/pipes', authorized),
      status('/api/v1/tokens', newToken),
      status('/dashboard', { headers: { Cookie: 'sluice-session=a' } }),
    ])
  const loud = (from: number) =>
    sluice
      .output()
      .slice(from)
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ level }) => level >= WARN)

  it('answers, tells it in one line, and in one more that it is over', async () => {
    const before = await askAll()
    const from = sluice.output().length
    await postgres.freeze()
    for (let times = 0; times < 3; times++) {
      const [pipes, tokens] = await askAll()
      expect([pipes!.status, tokens!.status]).toEqual([503, 503])
    }
    postgres.thaw()
    await expect.poll(askAll).toEqual(before)
    await expect.poll(() => loud(from).length).toBe(2)
    expect(loud(from)).toMatchObject([
      { msg: 'the database does not answer', why: expect.any(String) },
      { msg: 'the database answers again', awayMs: expect.any(Number) },
    ])
    expect(sluice.output().slice(from)).not.toMatch(/select|params/i)
  })
})

function settings(dataDir: string) {
  return {
    ...{ BASE_URL: 'http://localhost:0', DATA_DIR: dataDir, ROLES: 'web,worker', ACCESS_LOG: 'off' },
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    LOG_LEVEL: 'info',
  }
}
