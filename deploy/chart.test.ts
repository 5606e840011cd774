import { readFileSync } from 'node:fs'
import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { settings } from '#lib/platform/settings/settings.ts'
import { CHART, hasHelm, headOf, helm, RENDERED, render, renderedFile, VARIANTS } from '../scripts/chart.ts'
import { type Deployment, type Manifest, manifestsOf, one } from './manifests.ts'

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const withHelm = hasHelm()
if (!withHelm)
  console.warn('Helm is not installed: only the rendered files and their chart digest are checked')

/** From the OpenAPI document of Kubernetes and the ServiceMonitor definition, where every object is closed. */
const schemas = readJson('deploy/rendered/schemas.json')
const api = new Ajv({ strict: false }).addSchema({ $id: 'kubernetes', components: { schemas } })

/** The errors for which the API server would reject the manifest. */
function faultsOf({ apiVersion, kind, ...rest }: Manifest): string[] {
  const version = apiVersion.split('/').at(-1)
  const name = Object.keys(schemas).find((key) => key.endsWith(`.${version}.${kind}`))
  if (!name) return [`there is no schema for ${apiVersion} ${kind}`]
  const check = api.compile({ $ref: `kubernetes#/components/schemas/${name}` })
  if (check({ apiVersion, kind, ...rest })) return []
  return check.errors!.map(({ instancePath, message, params }) =>
    [kind, rest.metadata.name, instancePath, message, params.additionalProperty].join(' ').trim(),
  )
}

describe.each(VARIANTS)('the chart with its %s', (variant) => {
  const manifests = manifestsOf(variant)

  it('is up to date with its rendered file; `npm run generate -- chart` updates that file', () => {
    const kept = readFileSync(renderedFile(variant), 'utf8')
    expect(kept.startsWith(headOf(variant))).toBe(true)
    if (withHelm) expect(manifestsOf(variant, render(variant))).toEqual(manifests)
  })

  it('renders manifests that the Kubernetes API accepts', () => {
    expect(manifests.flatMap(faultsOf)).toEqual([])
  })

  it('replaces one pod of each role at a time, each once its replacement is ready', () => {
    for (const role of ['upload', 'web', 'worker']) {
      expect(one(manifests, 'PodDisruptionBudget', `sluice-${role}`)).toMatchObject({
        spec: { maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/component': role } } },
      })
      expect(one(manifests, 'Deployment', `sluice-${role}`)).toMatchObject({
        spec: { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
      })
      expect(one(manifests, 'HorizontalPodAutoscaler', `sluice-${role}`)).toMatchObject({
        spec: { minReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: `sluice-${role}` } },
      })
    }
  })

  it('selects the pods of one role by their labels, and no others', () => {
    const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind) as never[]
    type Selecting = { metadata: { name: string }; spec: { selector: Record<string, string> } }
    type Templated = { spec: { template: { metadata: { labels: Record<string, string> } } } }
    const pods = (ofKind('Deployment') as Templated[]).map(({ spec }) => spec.template.metadata.labels)
    for (const { metadata, spec } of ofKind('Service') as Selecting[]) {
      const found = pods.filter((labels) =>
        Object.entries(spec.selector).every(([name, value]) => labels[name] === value),
      )
      expect(found).toHaveLength(metadata.name === 'sluice-metrics' ? pods.length : 1)
    }
  })
})

describe('the schema check of the rendered files', () => {
  const planted = (change: (text: string) => string) =>
    manifestsOf('defaults').flatMap((manifest) => faultsOf(JSON.parse(change(JSON.stringify(manifest)))))

  it.each([
    ['an unknown field', '"maxUnavailable"', '"maxUnavailabel"'],
    ['an unknown probe', '"readinessProbe"', '"readyProbe"'],
    ['a number as text', '"periodSeconds":3', '"periodSeconds":"3"'],
    ['an unknown kind', '"kind":"Deployment"', '"kind":"Deployments"'],
  ])('finds %s', (_, right, wrong) => {
    expect(planted((text) => text.replaceAll(right, wrong))).not.toEqual([])
  })
})

describe('FTP', () => {
  it('is not rendered by default', () => {
    expect(JSON.stringify(manifestsOf('defaults'))).not.toContain('ftp')
  })

  it('is served by a single pod, whose data ports are those of its Service', () => {
    const manifests = manifestsOf('everything')
    const pod = one(manifests, 'Deployment', 'sluice-ftp') as Deployment & { spec: { replicas: number } }
    expect(pod.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
    const { env } = pod.spec.template.spec.containers[0]!
    const set = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    expect(set).toMatchObject({ ROLES: 'upload', FTP_PORT: '2121', FTP_PUBLIC_ADDRESS: '203.0.113.7' })
    const { spec } = one(manifests, 'Service', 'sluice-ftp') as unknown as {
      spec: { ports: { port: number }[] }
    }
    const [from, to] = set.FTP_PASSIVE_PORTS!.split('-').map(Number) as [number, number]
    const data = Array.from({ length: to - from + 1 }, (_, n) => from + n)
    expect(spec.ports.map(({ port }) => port)).toEqual([2121, ...data])
  })
})

describe('monitoring', () => {
  it('is not rendered by default', () => {
    expect(manifestsOf('defaults').map(({ kind }) => kind)).not.toContain('ServiceMonitor')
    expect(JSON.stringify(manifestsOf('defaults'))).not.toContain('sluice_upload_memory_bytes')
  })

  it('reads the metrics of all roles, and scales uploads by the bytes they hold', () => {
    const manifests = manifestsOf('everything')
    const { labels } = one(manifests, 'Service', 'sluice-metrics').metadata
    expect(one(manifests, 'ServiceMonitor', 'sluice')).toMatchObject({
      spec: {
        selector: { matchLabels: { 'app.kubernetes.io/component': labels['app.kubernetes.io/component'] } },
      },
    })
    const scaled = one(manifests, 'HorizontalPodAutoscaler', 'sluice-upload')
    expect(JSON.stringify(scaled)).toContain('sluice_upload_memory_bytes')
  })
})

it('the chart has the same version as the server that it installs', () => {
  const { version } = readJson('package.json')
  expect(parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8'))).toMatchObject({ version, appVersion: version })
})

/**
 * Settings that depend on the pod, and settings that belong in the Secret: OTLP headers contain tokens, and URLs
 * contain passwords.
 */
const NOT_IN_VALUES = [
  'DATA_DIR',
  'PORT',
  'SFTP_PORT',
  'FTP_PORT',
  'FTP_PASSIVE_PORTS',
  'FTP_PUBLIC_ADDRESS',
  'FTP_PLAIN',
  'FTP_ACTIVE',
  'HOST',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
  'ACME_DIRECTORY',
  'ROLES',
  'PROCESSES',
  'DEMO',
]
const IN_THE_SECRET = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SMTP_URL',
  'ENCRYPTION_KEY',
  'AUTH_SECRET',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'GITHUB_CLIENT_SECRET',
  'GOOGLE_CLIENT_SECRET',
  'OIDC_CLIENT_SECRET',
]

it('the chart accepts every setting that is not secret as a value', () => {
  const { properties } = readJson(`${CHART}/values.schema.json`)
  const other = [...NOT_IN_VALUES, ...IN_THE_SECRET]
  expect(properties.settings.propertyNames.enum).toEqual(
    Object.keys(settings).filter((name) => !other.includes(name)),
  )
})

describe('values.schema.json', () => {
  const { $schema: _, ...schema } = readJson(`${CHART}/values.schema.json`)
  const check = new Ajv({ strict: false }).compile(schema)
  const values = () => parse(readFileSync(`${CHART}/values.yaml`, 'utf8'))

  it("accepts the chart's values", () => {
    expect(check(values()), JSON.stringify(check.errors)).toBe(true)
  })

  it('trusts no proxy by default, because a network that fits every cluster has others in it', () => {
    expect(values().ingress.trustedProxies).toBe('')
  })

  it.each([
    ['a secret among the settings', { settings: { ENCRYPTION_KEY: 'x' } }],
    ['a URL as the host', { host: 'https://sluice.example.com' }],
    ['an unsupported controller', { ingress: { enabled: true, controller: 'traefik' } }],
    ['an unknown value', { replicas: 3 }],
    [
      'a role without a maximum number of replicas',
      { web: { minReplicas: 2, cpuPercent: 70, resources: {} } },
    ],
  ])('refuses %s', (_, wrong) => {
    expect(check({ ...values(), ...wrong })).toBe(false)
  })
})

it.skipIf(!withHelm)('Helm lints the chart without errors, and refuses invalid values', () => {
  expect(helm('lint', '--strict', CHART, '--values', `${RENDERED}/everything.values.yaml`)).toContain(
    '0 chart(s) failed',
  )
  expect(() => helm('template', 'sluice', CHART, '--set', 'settings.ENCRYPTION_KEY=x')).toThrow(
    'ENCRYPTION_KEY',
  )
  expect(() => helm('template', 'sluice', CHART)).toThrow('Set ingress.trustedProxies to')
})
