import { spawn } from 'node:child_process'
import { createHash, randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, globSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { openFlippingProxy } from '../../test/support/http-proxies.ts'
import { longUnless } from '../../test/support/long.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'
import { run } from '../guides/frameworks.ts'
import { write } from '../guides/write-guide.ts'

/** Tests the packed clients for Python and Go against a running server, in each installed version of their language. */
const demo = inject('demo')
const { baseUrl, accountKey, senderToken, pipeId } = demo
const sluice = createSluice({ baseUrl, accountKey, senderToken })
const home = temporaryFolder()
afterAll(() => home[Symbol.dispose]())

const ENV = {
  ...process.env,
  SLUICE_URL: baseUrl,
  SLUICE_ACCOUNT_KEY: accountKey,
  SLUICE_SENDER_TOKEN: senderToken,
  SLUICE_PIPE_ID: pipeId,
  SLUICE_DATA_STORE_ID: demo.dataStoreId,
  SLUICE_WEBHOOK_SECRET: demo.webhookSecret,
}
const wheel = resolve(globSync('packages/python/dist/*.whl')[0]!)
const PYTHON_ENV = { ...ENV, PYTHONPATH: wheel, PYTHONDONTWRITEBYTECODE: '1' }
const MINUTES = { timeout: 300_000 }

const ANY = '3'

describe.each([ANY, '3.10', '3.11', '3.12', '3.13'])('on Python %s', (version) => {
  const python = `python${version}`
  const isMissing = async () =>
    !(await run([python, '-c', 'import sys; assert sys.version_info >= (3, 10)'])).ok
  const options = { ...MINUTES, ...longUnless(version === ANY) }

  it('the wheel can be installed', options, async ({ skip }) => {
    if (await isMissing()) skip(`${python} is not installed.`)
    const pip = ['-m', 'pip', 'install', '--no-index', '--no-deps', '--target', join(home.path, version)]
    expect(await run([python, ...pip, wheel])).toMatchObject({ ok: true })
  })

  it('the client passes its tests', options, async ({ skip }) => {
    if (await isMissing()) skip(`${python} is not installed.`)
    const told = await run([python, '-m', 'unittest', 'discover', 'packages/python/tests'], {
      env: PYTHON_ENV,
    })
    expect(told.output).toContain('\nOK')
  })
})

it('the client for Python passes mypy', MINUTES, async ({ skip }) => {
  if (!(await run(['python3', '-m', 'mypy', '--version'])).ok) skip('mypy is not installed.')
  const cache = join(home.path, 'mypy')
  const checked = ['-m', 'mypy', '--cache-dir', cache, 'src', 'tests']
  expect(await run(['python3', ...checked], { cwd: 'packages/python' })).toMatchObject({ ok: true })
})

const GO_MOD = `module upload
go 1.26
require sluice.example/sluice v0.0.0
replace sluice.example/sluice => ./sluice
`
const UPLOAD_IN_GO = `package main

import (
	"context"
	"fmt"
	"os"

	"sluice.example/sluice"
)

func main() {
	client, err := sluice.New(sluice.Options{})
	if err != nil {
		panic(err)
	}
	fields := sluice.CreateUploadFields{PipeID: os.Args[3], Filename: os.Args[4]}
	id, err := client.UploadFile(context.Background(), os.Args[1], fields, os.Args[2])
	if err != nil {
		panic(err)
	}
	fmt.Println(id)
}
`

/** Builds the program with the packed module. */
async function programInGo(): Promise<[string, ...string[]] | undefined> {
  if (!(await run(['go', 'version'])).ok) return undefined
  write(home.path, 'go/go.mod', GO_MOD)
  write(home.path, 'go/main.go', UPLOAD_IN_GO)
  const cwd = join(home.path, 'go')
  const archive = resolve(globSync('packages/go/dist/*.tgz')[0]!)
  expect(await run(['tar', 'xzf', archive], { cwd })).toMatchObject({ ok: true })
  expect(await run(['go', 'build', '-o', 'upload', '.'], { cwd })).toMatchObject({ ok: true })
  return [join(cwd, 'upload')]
}

describe.each([
  ['vet', ['go', 'vet', './...']],
  ['gofmt', ['gofmt', '-l', '.']],
  ['its tests', ['go', 'test', '-count=1', './...']],
] as const)('the client for Go', (check, command) => {
  it(`passes ${check}`, MINUTES, async ({ skip }) => {
    if (!(await run(['go', 'version'])).ok) skip('Go is not installed.')
    const { ok, output } = await run([...command], { cwd: 'packages/go', env: ENV })
    expect(ok, output).toBe(true)
    // It succeeds even if it lists files.
    if (check === 'gofmt') expect(output).toBe('')
  })
})

const UPLOAD_IN_PYTHON = `import sys
from sluice import Sluice
print(Sluice().upload_file(sys.argv[1], {"pipeId": sys.argv[3], "filename": sys.argv[4]}, journal=sys.argv[2]))`

type Language = { name: string; program(): Promise<[string, ...string[]] | undefined> }
const LANGUAGES: Language[] = [
  {
    name: 'Python',
    program: async () =>
      (await run(['python3', '--version'])).ok ? ['python3', '-c', UPLOAD_IN_PYTHON] : undefined,
  },
  { name: 'Go', program: programInGo },
]

const MIB = 1024 * 1024
const SIZE = 200 * MIB

const hashOf = async (path: string) => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

describe.each(LANGUAGES)('an upload in $name', ({ name, program }) => {
  it('continues at the byte where it stopped after being killed twice', MINUTES, async ({ skip }) => {
    const command = await program()
    if (!command) return skip(`${name} is not installed.`)
    const line = await openFlippingProxy(baseUrl)
    const [path, journal, filename] = [
      join(home.path, name),
      join(home.path, `${name}.journal`),
      `${name}.bin`,
    ]
    writeFileSync(path, randomFillSync(Buffer.allocUnsafe(SIZE)))
    const file = async () => (await sluice.listFiles({ pipeId, filename })).data[0]
    const [start, ...fixed] = command
    const args = [...fixed, path, journal, pipeId, filename]
    const env = { ...PYTHON_ENV, SLUICE_URL: line.url }
    for (const [resumes, stopAt] of [70 * MIB, 140 * MIB].entries()) {
      line.stopAt = stopAt
      const child = spawn(start, args, { env, stdio: 'ignore' })
      endWithThisProcess(child)
      const isUnderWay = async () => {
        const found = await file()
        return line.stalled > 0 && found !== undefined && found.offset > 0 && found.resumeCount >= resumes
      }
      await expect.poll(isUnderWay, { timeout: 120_000 }).toBe(true)
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      line.cut()
    }
    line.stopAt = Number.POSITIVE_INFINITY
    const { ok, output } = await run([start, ...args], { env })
    const found = (await file())!
    expect([ok, output.trim()]).toEqual([true, found.id])
    expect([found.status, found.size, found.resumeCount]).toEqual(['transferred', SIZE, 2])
    const inBucket = readdirSync(demo.bucket.directory, { recursive: true, encoding: 'utf8' })
    const object = join(demo.bucket.directory, inBucket.find((one) => one.endsWith(`/${filename}`))!)
    expect(await hashOf(object)).toBe(await hashOf(path))
    expect(line.passedBytes).toBeLessThan(SIZE * 1.1)
    line.close()
  })
})
