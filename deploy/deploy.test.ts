import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { createMetrics } from '#lib/platform/metrics.ts'
import { ROLES, settings } from '#lib/platform/settings/settings.ts'
import { IDLE_MS } from '#lib/protocols/endpoint/request-source.ts'
import { NODE_FLAGS } from '../test/support/sluice.ts'

type Container = {
  image: string
  env: { name: string; value: string }[]
  [probe: string]: unknown
}
type Manifest = {
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  data?: Record<string, string>
  stringData?: Record<string, string>
  resources?: string[]
  spec: { template: { spec: { containers: Container[] } } }
}
type Service = { image?: string; environment?: Record<string, string>; volumes?: string[] }

const read = (file: string) => readFileSync(`deploy/${file}`, 'utf8')
const files = readdirSync('deploy/kubernetes')
const manifests = files.flatMap((file) =>
  parseAllDocuments(read(`kubernetes/${file}`)).map((document) => document.toJS() as Manifest),
)
const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>
}

/** Of the one for uploads. */
function annotationOf(kind: string, name: string): string {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === 'upload')!
  return found.metadata.annotations![name]!
}

async function metricNames(): Promise<string[]> {
  const list = await createMetrics().registry.getMetricsAsJSON()
  return list.map(({ name }) => name)
}

/** The metrics that PromQL speaks of, a histogram by its own name. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:sluice|process|nodejs)_[a-z0-9_]+/g) ?? []
  return [...new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, '')))]
}

describe('the dashboard and the alerts', () => {
  it('speak of metrics that there are', async () => {
    const known = await metricNames()
    for (const file of ['grafana.json', 'alerts.yaml']) {
      expect(metricsIn(read(file)).filter((name) => !known.includes(name))).toEqual([])
    }
  })

  it('leave out none of ours', async () => {
    const ours = (await metricNames()).filter((name) => name.startsWith('sluice_'))
    const shown = metricsIn(read('grafana.json'))
    expect(ours.filter((name) => !shown.includes(name))).toEqual([])
  })
})

describe('compose.yaml and the Kubernetes manifests', () => {
  const own = Object.values(services).filter((service) => service.image === 'sluice')
  const containers = manifests
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => spec.template.spec.containers[0]!)

  it('use settings that there are', () => {
    const used = [
      ...own.flatMap(({ environment }) => Object.keys(environment!)),
      ...containers.flatMap(({ env }) => env.map(({ name }) => name)),
      ...manifests.flatMap(({ data, stringData }) => Object.keys({ ...data, ...stringData })),
    ]
    expect(used.filter((name) => !Object.hasOwn(settings, name))).toEqual([])
    for (const name of ['DATABASE_URL', 'ENCRYPTION_KEY', 'AUTH_SECRET']) expect(used).toContain(name)
  })

  it('run every role, and two of those that balancers lead to', () => {
    expect(own.map(({ environment }) => environment!.ROLES).sort()).toEqual([
      'upload',
      'upload',
      'web',
      'web',
      'worker',
    ])
    expect(containers.map(({ env }) => env[0]!.value).sort()).toEqual([...ROLES].sort())
  })

  it('pass on what an operator decides, and keep what a container must not lose', () => {
    const ofAContainer = ['DATA_DIR', 'PORT', 'HOST', 'UPLOAD_URL', 'UPLOAD_MEMORY_BYTES', 'DEMO']
    const ofTheBalancer = ['TLS_CERT_FILE', 'TLS_KEY_FILE']
    const decided = Object.keys(settings).filter(
      (name) => ![...ofAContainer, ...ofTheBalancer].includes(name),
    )
    for (const service of own) {
      expect(decided.filter((name) => service.environment![name] === undefined)).toEqual([])
      expect(service.volumes).toContain('data:/data')
    }
  })

  it('name every manifest in the kustomization', () => {
    const listed = manifests.find(({ kind }) => kind === 'Kustomization')!.resources!
    const there = files.filter((file) => file !== 'kustomization.yaml')
    expect(there.map((file) => file.replace('.example', '')).sort()).toEqual([...listed].sort())
  })

  it('probe what the server answers', () => {
    const text = files.map((file) => read(`kubernetes/${file}`)).join('\n')
    const probed = ['path: /healthz', 'path: /readyz', 'path: /readyz?for=upload']
    expect(new Set(text.match(/path: \/[a-z]+z.*$/gm))).toEqual(new Set(probed))
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      for (const container of containers) expect(container).toHaveProperty(probe)
    }
  })

  it('pin the images', () => {
    for (const { image } of Object.values(services).filter(({ image }) => image !== 'sluice'))
      expect(image).toMatch(/:v?\d/)
  })
})

it('no balancer keeps the bytes of an upload back, or limits their number', () => {
  const uploads = read('nginx.conf').match(/location \/pipes\/ \{[^}]*\}/)![0]
  expect(uploads).toContain('proxy_request_buffering off;')
  expect(uploads).toContain('client_max_body_size 0;')
  expect(read('haproxy.cfg')).not.toContain('http-buffer-request')
  expect(annotationOf('Ingress', 'nginx.org/location-snippets')).toContain('proxy_request_buffering off;')
  expect(annotationOf('Ingress', 'nginx.org/client-max-body-size')).toBe('0')
})

it('no balancer gives an idle client up before Sluice does', () => {
  const waits = [...read('nginx.conf').matchAll(/client_body_timeout (\d+)s/g)]
  waits.push(...read('haproxy.cfg').matchAll(/timeout (?:client|server) (\d+)s/g))
  expect(waits).toHaveLength(3)
  for (const [, wait] of waits) expect(Number(wait) * 1000).toBeGreaterThan(IDLE_MS)
})

describe('upload nodes stay in rotation while the database is away', () => {
  it('in Kubernetes and behind HAProxy', () => {
    const deployment = manifests.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'upload',
    )!
    expect(deployment.spec.template.spec.containers[0]!.readinessProbe).toMatchObject({
      httpGet: { path: '/readyz?for=upload' },
    })
    expect(read('haproxy.cfg')).toMatch(/^backend upload\n[\s\S]*?option httpchk GET \/readyz\?for=upload$/m)
  })
})

/** What e2e/system/balancers.test.ts shows of the real programs holds of the ingress, as it says the same. */
describe('the ingress answers for upload nodes that are away', () => {
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)

  it('as haproxy.cfg does', () => {
    const shipped = read('haproxy.cfg').match(/http-error status 502[\s\S]*?(?=\n\nbackend web)/)![0]
    expect(lines(annotationOf('Service', 'haproxy.org/backend-config-snippet'))).toEqual(lines(shipped))
  })

  it('as nginx.conf does', () => {
    const shipped = read('nginx.conf').match(/location @no_node \{[\s\S]*?\n {4}\}/)![0]
    expect(lines(annotationOf('Ingress', 'nginx.org/server-snippets'))).toEqual(lines(shipped))
    for (const text of [read('nginx.conf'), annotationOf('Ingress', 'nginx.org/location-snippets')])
      expect(text).toContain('error_page 502 503 504 = @no_node;')
  })
})

it('the image carries what the server needs, and no secret', () => {
  const carried = readFileSync('.dockerignore', 'utf8')
    .match(/^!.+$/gm)!
    .map((line) => line.slice(1))
  for (const path of ['server.ts', 'lib', 'app', 'components', 'drizzle', 'package-lock.json'])
    expect(carried).toContain(path)
  expect(carried.filter((path) => path.startsWith('.') && path !== '.npmrc')).toEqual([])
  expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^USER 1000:1000$/m)
})

it('the image has the manifest of each workspace before it installs, which npm ci wants', () => {
  const [before] = readFileSync('Dockerfile', 'utf8').split('RUN npm ci')
  for (const folder of JSON.parse(readFileSync('package.json', 'utf8')).workspaces)
    expect(before).toContain(`COPY ${folder}/package.json ${folder}/\n`)
})

it('Node has the same flags in the image, by npm start, and in what is tested and measured', () => {
  const image = readFileSync('Dockerfile', 'utf8').match(/^CMD (.+)$/m)![1]!
  expect(JSON.parse(image)).toEqual(['node', ...NODE_FLAGS, 'server.js'])
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(scripts.start).toBe(
    ['node -r ./scripts/require-node.cjs', ...NODE_FLAGS, 'scripts/start.ts'].join(' '),
  )
})
