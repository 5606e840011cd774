import { expect, it } from 'vitest'
import { carryOut } from '../../packages/cli/src/apply/carry-out.ts'
import { toDocument } from '../../packages/cli/src/apply/export.ts'
import { readWorkspace } from '../../packages/cli/src/apply/workspace.ts'
import { apply, documentOf, emptyWorkspace, planOf } from '../../test/support/apply-configuration.ts'
import { makeSas } from '../../test/support/azure-signatures.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { makeKeyFile } from '../../test/support/google-cloud.ts'
import { testRuntime } from '../../test/support/runtime.ts'

/** A configuration file that these tests apply through the real API. */
const FILE = `
version: 1
dataStores:
  - name: archive
    provider: other
    endpoint: https://s3.example.com
    region: us-east-1
    bucket: films-archive
    accessKeyId: AKIAEXAMPLE
    secretAccessKey: \${STORE_KEY}
pipes:
  - name: films
    dataStore: archive
    source: { http: true }
    allowedTypes: [video/mp4, image/*]
    maxFileBytes: 5000000000
    outputs:
      - name: backend
        url: https://example.com/hooks
        statuses: [transferred, failed]
        headers: { X-Api-Key: "\${FILMS_HEADER}" }
  - name: stills
    dataStore: archive
    outputs: []
senders:
  - name: website
  - name: app
outputs:
  - name: audit
    url: https://example.com/audit
alerts:
  quota_80: { mail: false }
  token_unused: { mail: false, notice: false }
`

describeWithDatabase('a configuration file', (database) => {
  it('creates everything in an empty workspace, and nothing when applied again', async () => {
    const sluice = await emptyWorkspace(testRuntime(database()))
    const { steps, shown } = await apply(sluice, FILE)
    expect(steps).toEqual([
      'create data store archive',
      'create pipe films',
      'create pipe stills',
      'create output backend',
      'create output audit',
      'create sender website',
      'create sender app',
      'change alerts settings',
    ])
    expect(shown.map(({ secret }) => secret.slice(0, 3))).toEqual(['whs', 'whs', 'sk_', 'sk_'])
    expect((await planOf(sluice, FILE)).plan).toEqual({ steps: [], unchanged: 8, unlisted: [] })
  })

  it('can list several Data Stores for a Pipe, in order', async () => {
    const sluice = await emptyWorkspace(testRuntime(database()))
    const copies = FILE.match(/ {2}- name: archive\n[\s\S]*?(?=pipes:)/)![0].replaceAll('archive', 'copies')
    const two = FILE.replace('pipes:', `${copies}pipes:`).replace(
      'dataStore: archive',
      'destinations: [{ dataStore: archive }, { dataStore: copies, required: false }]',
    )
    await apply(sluice, two)
    expect((await planOf(sluice, two)).plan.steps).toEqual([])
    const document = toDocument(await readWorkspace(sluice), []) as { pipes: object[] }
    expect(document.pipes).toMatchObject([
      { name: 'films', destinations: [{ dataStore: 'archive' }, { dataStore: 'copies', required: false }] },
      { name: 'stills', dataStore: 'archive' },
    ])
    const swapped = two.replace(/\[(\{ dataStore: archive \}), (\{.*?\})\]/, '[$2, $1]')
    const { plan } = await planOf(sluice, swapped)
    expect(plan.steps).toMatchObject([
      { action: 'change', name: 'films', fields: { destinations: [{}, {}] } },
    ])
    await apply(sluice, swapped)
    expect((await planOf(sluice, swapped)).plan.steps).toEqual([])
    await apply(sluice, FILE)
    expect((await planOf(sluice, FILE)).plan.steps).toEqual([])
  })

  it('continues after a run was killed', async () => {
    const sluice = await emptyWorkspace(testRuntime(database()))
    const { found, plan } = await planOf(sluice, FILE)
    let left = 3
    const killed = carryOut(sluice, plan.steps, found, () => {
      left -= 1
      if (left === 0) throw new Error('killed')
    })
    await expect(killed).rejects.toThrow('killed')
    expect((await apply(sluice, FILE)).steps).toEqual([
      'create output backend',
      'create output audit',
      'create sender website',
      'create sender app',
      'change alerts settings',
    ])
    expect((await planOf(sluice, FILE)).plan.steps).toEqual([])
  })

  it('sets the alert settings that the dashboard shows, and leaves omitted ones unchanged', async () => {
    const sluice = await emptyWorkspace(testRuntime(database()))
    await apply(sluice, FILE)
    const { quota_80, quota_100, token_unused } = await sluice.showAlertSettings()
    expect(quota_80).toEqual({ mail: false, notice: true })
    expect(quota_100).toEqual({ mail: true, notice: true })
    expect(token_unused).toEqual({ mail: false, notice: false })
    const odd = (alerts: string) => apply(sluice, `version: 1\nalerts: ${alerts}`)
    await expect(odd('{ quota_90: { mail: true } }')).rejects.toThrow(
      'There is no alert "quota_90", only quota_80',
    )
    await expect(odd('{ quota_80: { sms: true } }')).rejects.toThrow('sms')
  })

  it('changes only items that differ, and sends secrets only with the items they belong to', async () => {
    const sluice = await emptyWorkspace(testRuntime(database()))
    await apply(sluice, FILE)
    const changed = FILE.replace('5000000000', '6000000000').replace('AKIAEXAMPLE', 'AKIAOTHER')
    const { plan } = await planOf(sluice, changed)
    expect(plan.steps.map(({ action, name, fields }) => [action, name, Object.keys(fields)])).toEqual([
      ['change', 'archive', ['accessKeyId', 'secretAccessKey']],
      ['change', 'films', ['maxFileBytes']],
    ])
    await apply(sluice, changed)
    expect((await planOf(sluice, changed)).plan.steps).toEqual([])
  })

  const google = { provider: 'gcs', bucket: 'films' }
  const azure = { provider: 'azure', endpoint: 'https://acme.blob.core.windows.net', bucket: 'films' }
  const keyFile = makeKeyFile().file
  const poolProvider = (n: number) =>
    `projects/${n}/locations/global/workloadIdentityPools/sluice/providers/sluice`
  it.each([
    [
      "a service account's key",
      ['key-1', 'key-2'].map((id) => ({
        ...google,
        serviceAccountKey: JSON.stringify({ ...keyFile, private_key_id: id }),
      })),
    ],
    ['a SAS', ['cw', 'rcw'].map((permissions) => ({ ...azure, sasToken: `?${makeSas({ permissions })}` }))],
    [
      "a storage account's key",
      [1, 2].map((n) => ({ ...azure, storageAccountKey: Buffer.alloc(64, n).toString('base64') })),
    ],
    ['a federation', [1, 2].map((n) => ({ ...google, federation: { identityProvider: poolProvider(n) } }))],
  ])('sends %s only if it has changed', async (_, [before, after]) => {
    const settings = { BASE_URL: 'https://sluice.example.com' }
    const sluice = await emptyWorkspace(testRuntime(database(), settings))
    const document = (store: object | undefined) =>
      `version: 1\ndataStores: ${JSON.stringify([{ name: 'cloud', ...store }])}`
    await apply(sluice, document(before))
    expect((await planOf(sluice, document(before))).plan.steps).toEqual([])
    expect((await planOf(sluice, document(after))).plan.steps).toMatchObject([{ name: 'cloud' }])
  })

  it('deletes unlisted items only with --prune, and leaves omitted lists unchanged', async () => {
    const sluice = await emptyWorkspace(testRuntime(database()))
    await apply(sluice, FILE)
    const fewer = FILE.replace('  - name: stills\n    dataStore: archive\n    outputs: []\n', '').replace(
      /senders:[\s\S]*?outputs:/,
      'outputs:',
    )
    expect((await planOf(sluice, fewer)).plan).toMatchObject({ steps: [], unlisted: [{ name: 'stills' }] })
    expect((await apply(sluice, fewer, { prune: true })).steps).toEqual(['delete pipe stills'])
    expect((await readWorkspace(sluice)).senders.map(({ name }) => name)).toEqual(['app', 'website'])
  })
})

it.each([
  ['version: 2', 'must start with "version: 1"'],
  ['version: 1\npipe: []', '"pipe" is not a valid key'],
  ['version: 1\npipes: {}', 'pipes must be a list'],
  ['version: 1\nalerts: []', 'alerts must be a map'],
  ['version: 1\nworkspace: x', 'workspace must be a map'],
  ['version: 1\npeople: [{ role: admin }]', 'people[0] needs an email'],
  ['version: 1\npeople: [{ email: a@b.de }, { email: A@B.de }]', 'people has "a@b.de" twice'],
  ['version: 1\npipes: [{ dataStore: x }]', 'pipes[0] needs a name'],
  ['version: 1\npipes: [{ name: a, dataStore: x, destinations: [] }]', 'both dataStore and destinations'],
  ['version: 1\npipes: [{ name: a, destinations: [x] }]', 'each destination of the Pipe "a"'],
  ['version: 1\nsenders: [{ name: a }, { name: a }]', 'senders has "a" twice'],
  [`version: 1\ndataStores: [{ name: a, secretAccessKey: "\${NOT_SET}" }]`, 'not set: NOT_SET'],
  ['version: 1\nsenders: [', 'sluice.yaml:'],
])('explains what is wrong with %j', (text, message) => {
  expect(() => documentOf(text)).toThrow(message)
})
