import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { buildKitIfNeeded } from '../../scripts/kit.ts'
import { runCli } from '../../test/support/packed-kit.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'

/** Runs `sluice links` and `sluice upload --batch` as programs against a Sluice server. */
const demo = inject('demo')
const { baseUrl, accountKey, senderToken } = demo
const sluice = createSluice({ baseUrl, accountKey, senderToken })
const home = temporaryFolder()
const PASSWORD = 'open sesame'
let pipeId: string
beforeAll(async () => {
  buildKitIfNeeded()
  const fields = { name: 'Links of a program', dataStoreId: demo.dataStoreId, source: { http: true } }
  pipeId = (await sluice.createPipe({ ...fields, maxFileBytes: 1000 })).id
})
afterAll(() => home[Symbol.dispose]())

const kept = join(home.path, 'kept')

async function run(args: string[], { input = '', more = {} } = {}) {
  const signedIn = { SLUICE_URL: baseUrl, SLUICE_ACCOUNT_KEY: accountKey, SLUICE_PIPE_ID: pipeId }
  const env = { SLUICE_CONFIG_DIR: kept, ...signedIn, SLUICE_SENDER_TOKEN: senderToken, ...more }
  const ran = await runCli('packages/cli/dist/sluice.js', args, { input, env })
  const told = ran.stdout + ran.stderr
  for (const secret of [accountKey, senderToken, PASSWORD]) expect(told).not.toContain(secret)
  expect(told).not.toMatch(/\btmp_|^ {4}at /m)
  return ran
}
const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

it.each(['links', 'upload'])('%s shows each form of the command on its own line', async (name) => {
  const help = await run([name, '--help'])
  const misused = await run([name])
  expect([help.code, misused.code]).toEqual([0, 2])
  expect(help.stderr).toMatch(new RegExp(`^Usage: sluice ${name} .*\n.*  ${name} .*\n`, 's'))
  expect(misused.stderr).toContain(help.stderr)
  expect(help.stderr).not.toContain('\\u')
})

describe('links', () => {
  const codeOf = (url: string) => url.match(/\/u\/(\w{22})$/)![1]!
  const openLink = (url: string, password?: string) =>
    sluice.openUploadLink({
      code: codeOf(url),
      visitor: randomBytes(32).toString('base64url'),
      ...(password && { password }),
    })

  it('are created with limits and a password from standard input, listed and closed', async () => {
    const expires = '2099-01-01T00:00:00.000Z'
    const limits = ['--max-files', '20', '--max-bytes', '5000000', '--expires', expires]
    const about = [
      '--title',
      'Films for May',
      '--message',
      'One for each scene.',
      '--type',
      'image/*',
      '--type',
      'video/*',
      '--notify',
      'demo@sluice.local',
      '--receipts',
    ]
    const made = await run(['links', 'create', ...about, ...limits, '--password'], { input: `${PASSWORD}\n` })
    expect([made.code, made.stderr]).toEqual([0, ''])
    const url = made.stdout.trim()
    expect(url).toMatch(new RegExp(`^${baseUrl}/u/\\w{22}$`))
    expect(await openLink(url)).toMatchObject({ title: 'Films for May', hasPassword: true, upload: null })
    expect(await openLink(url, PASSWORD)).toMatchObject({
      message: 'One for each scene.',
      expiresAt: expires,
      filesLeft: 20,
      bytesLeft: 5_000_000,
      allowedTypes: ['image/*', 'video/*'],
      upload: { mayCreate: true },
    })

    const listed = await run(['links', 'list', '--json'])
    const [link, ...others] = linesOf(listed.stdout)
    expect([link, others]).toMatchObject([
      {
        pipeId,
        title: 'Films for May',
        state: 'open',
        maxFiles: 20,
        notifyEmail: 'demo@sluice.local',
        receipts: true,
      },
      [],
    ])
    // The list reveals neither the code, which grants access, nor a hash.
    expect(listed.stdout).not.toContain(codeOf(url))
    expect(listed.stdout).not.toMatch(/hash/i)
    const row = (state: string) => `${link.id}  ${state.padEnd(9)}  0 of 20 files  Films for May\n`
    expect(await run(['links', 'list'])).toEqual({ code: 0, stdout: row('open'), stderr: '' })

    const closed = await run(['links', 'close', link.id])
    expect(closed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Films for May is closed\./) })
    expect((await run(['links', 'list'])).stdout).toBe(row('closed'))
    expect(await openLink(url, PASSWORD)).toMatchObject({ state: 'closed', upload: null })
    const again = await run(['links', 'close', link.id, '--json'])
    expect([again.code, linesOf(again.stdout)]).toMatchObject([0, [{ id: link.id, state: 'closed' }]])
    // Created links are not stored on this machine.
    for (const name of readdirSync(home.path, { recursive: true, encoding: 'utf8' }))
      expect(name).not.toContain('links')
  })

  it('keep a password exactly as typed', async () => {
    const { stdout } = await run(['links', 'create', '--title', 'Spaces', '--password', '--json'], {
      input: ` ${PASSWORD} \r\n`,
    })
    const [{ url, hasPassword }] = linesOf(stdout)
    expect([hasPassword, (await openLink(url, ` ${PASSWORD} `)).upload]).toMatchObject([
      true,
      { mayCreate: true },
    ])
  })

  it.each([
    ['a title', ['create'], 2, 'Set a title with --title.'],
    [
      'a number of files',
      ['create', '--title', 'x', '--max-files', 'ten'],
      2,
      '--max-files must be a whole number',
    ],
    [
      'a number of bytes',
      ['create', '--title', 'x', '--max-bytes', '5GB'],
      2,
      '--max-bytes must be a whole number',
    ],
    ['a time', ['create', '--title', 'x', '--expires', 'tomorrow'], 1, 'expiresAt'],
    ['a longer password', ['create', '--title', 'x', '--password'], 1, 'at least 8 characters'],
    ['a link to close', ['close'], 2, '`links close <link id>`'],
    ['a link that exists', ['close', randomUUID()], 1, 'not exist|no such|There is no'],
    ['a command', ['delete', randomUUID()], 2, '`links create`'],
  ])('ask for %s, and create nothing', async (_, args, code, words) => {
    const { data: before } = await sluice.listUploadLinks()
    const ran = await run(['links', ...args], { input: 'short\n' })
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toMatch(new RegExp(words))
    expect((await sluice.listUploadLinks()).data).toEqual(before)
  })

  it('require an account key that may create them', async () => {
    const ran = await run(['links', 'create', '--title', 'x', '--password'], {
      input: PASSWORD,
      more: { SLUICE_ACCOUNT_KEY: 'ak_nobody' },
    })
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    expect(ran.stderr).not.toContain('ak_nobody')
  })
})

describe('upload --batch', () => {
  const write = (name: string, text = name) => {
    const path = join(home.path, name)
    writeFileSync(path, text)
    return path
  }
  const batchOf = async (fileId: string) => {
    const { batch } = await sluice.showFile({ id: fileId })
    return sluice.showBatch({ id: batch!.id })
  }

  it('seals the batch once all files have arrived, and adds no more files to it', async () => {
    const [one, two, late] = [write('one.txt'), write('two.txt'), write('late.txt')]
    const sent = await run(['upload', one, two, '--batch', 'order-17', '--json'])
    expect([sent.code, sent.stderr]).toEqual([0, ''])
    const files = linesOf(sent.stdout)
    expect(files.map(({ file }) => file).sort()).toEqual([one, two])
    const told = { name: 'order-17', namedBy: 'token', files: 2, open: 0 }
    const batch = await batchOf(files[0].fileId)
    expect(batch).toMatchObject({ ...told, sealedAt: expect.any(String) })
    await expect.poll(async () => (await batchOf(files[1].fileId)).completedAt).not.toBeNull()

    const refused = await run(['upload', late, '--batch', 'order-17'])
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toMatch(/late\.txt: 403 The batch “order-17” is sealed\. Start a new one\./)
    expect(refused.stderr).not.toContain('is not sealed')
    expect(await batchOf(files[0].fileId)).toMatchObject({ ...told, sealedAt: batch.sealedAt })

    const people = await run(['upload', late, '--batch', 'order-18'])
    expect([people.code, people.stdout]).toEqual([0, ''])
    expect(people.stderr).toContain('The batch order-18 is sealed.')
    expect(readFileSync(join(kept, 'uploads.jsonl'), 'utf8')).not.toMatch(/tmp_|sk_|ak_/)
  })

  it('leaves the batch open while a file is missing, and seals it when run again', async () => {
    const [fits, large] = [write('fits.txt'), write('large.txt', 'x'.repeat(1001))]
    const args = ['upload', fits, large, '--batch', 'order-19']
    const failed = await run([...args, '--json'])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain(
      '1 of 2 files was not uploaded.\nThe batch order-19 was not sealed by this run.',
    )
    const [{ fileId }] = linesOf(failed.stdout)
    expect(await batchOf(fileId)).toMatchObject({ files: 1, open: 0, sealedAt: null })
    write('large.txt', 'smaller')
    expect(await run(args)).toMatchObject({ code: 0, stderr: expect.stringContaining('is sealed.') })
    expect(await batchOf(fileId)).toMatchObject({ files: 2, sealedAt: expect.any(String) })
  })

  it.each([
    ['a name', '', 2, 'The batch needs a name.'],
    ['a shorter name', 'x'.repeat(201), 1, 'at most 200 characters'],
  ])('asks for %s, and uploads nothing', async (_, name, code, words) => {
    const unnamed = write(`unnamed ${code}.txt`)
    const ran = await run(['upload', unnamed, '--batch', name])
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toContain(words)
    const { data } = await sluice.listFiles({ pipeId, limit: 100 })
    expect(data.map(({ filename }) => filename)).not.toContain(`unnamed ${code}.txt`)
  })
})
