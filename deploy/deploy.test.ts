import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROUTES } from '#lib/platform/http/routes.ts'
import { createMetrics } from '#lib/platform/metrics.ts'
import { ROLES, settings } from '#lib/platform/settings/settings.ts'
import { IDLE_MS } from '#lib/uploads/stream/request-source.ts'
import { DRAIN_MS, SUPERVISOR_DRAIN_MS } from '#server/stop-on-signal.ts'
import { COMMANDS, READ_WHILE_RUNNING } from '../scripts/release/stage-server.ts'
import { NODE_FLAGS } from '../test/support/sluice.ts'
import { type Deployment, manifestsOf, one } from './manifests.ts'

type Service = {
  image?: string
  environment?: Record<string, string>
  volumes?: string[]
  stop_grace_period?: string
}

const read = (file: string) => readFileSync(`deploy/${file}`, 'utf8')
const manifests = manifestsOf('defaults')
const deployments = manifests.filter(({ kind }) => kind === 'Deployment') as Deployment[]
const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>
}

/** Read an annotation. Those for the HAProxy controller are on the upload Service, those for NGINX on the Ingresses. */
const haproxy = (name: string) => one(manifests, 'Service', 'sluice-upload').metadata.annotations![name]!
const nginx = (ingress: string, name: string) =>
  one(manifestsOf('everything'), 'Ingress', ingress).metadata.annotations![name]!

async function metricNames(): Promise<string[]> {
  const list = await createMetrics().registry.getMetricsAsJSON()
  return list.map(({ name }) => name)
}

/** The metrics used in PromQL expressions, with histograms under their base name. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:sluice|process|nodejs)_[a-z0-9_]+/g) ?? []
  return [...new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, '')))]
}

describe('the dashboard and the alerts', () => {
  it('use metrics that exist', async () => {
    const known = await metricNames()
    for (const file of ['grafana.json', 'alerts.yaml']) {
      expect(metricsIn(read(file)).filter((name) => !known.includes(name))).toEqual([])
    }
  })

  it('use all of our metrics', async () => {
    const ours = (await metricNames()).filter((name) => name.startsWith('sluice_'))
    const shown = metricsIn(read('grafana.json'))
    expect(ours.filter((name) => !shown.includes(name))).toEqual([])
  })
})

describe('compose.yaml and the chart', () => {
  const own = Object.values(services).filter((service) => service.image === 'sluice')
  const containers = deployments.map(({ spec }) => spec.template.spec.containers[0]!)

  it('use settings that exist', () => {
    const used = [
      ...own.flatMap(({ environment }) => Object.keys(environment!)),
      ...containers.flatMap(({ env }) => env.map(({ name }) => name)),
      ...manifests.flatMap(({ data }) => Object.keys(data ?? {})),
    ]
    expect(used.filter((name) => !Object.hasOwn(settings, name))).toEqual([])
  })

  it('run every role, and two nodes of each role behind the balancer', () => {
    expect(own.map(({ environment }) => environment!.ROLES).sort()).toEqual([
      'upload',
      'upload',
      'web',
      'web',
      'worker',
    ])
    expect(containers.map(({ env }) => env[0]!.value).sort()).toEqual([...ROLES].sort())
  })

  it("pass on the operator's settings, and keep /data in a volume", () => {
    const ofAContainer = ['DATA_DIR', 'PORT', 'HOST', 'UPLOAD_URL', 'UPLOAD_MEMORY_BYTES', 'DEMO']
    const ofTheBalancer = ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'ACME_DIRECTORY']
    const decided = Object.keys(settings).filter(
      (name) => ![...ofAContainer, ...ofTheBalancer].includes(name),
    )
    for (const service of own) {
      expect(decided.filter((name) => service.environment![name] === undefined)).toEqual([])
      expect(service.volumes).toContain('data:/data')
    }
  })

  it('use the probe paths of each role', () => {
    const ready = { web: '/readyz', worker: '/readyz', upload: '/readyz?for=upload' }
    for (const { env, ...probes } of containers) {
      const role = env[0]!.value as keyof typeof ready
      expect(probes).toMatchObject({
        startupProbe: { httpGet: { path: '/healthz' } },
        livenessProbe: { httpGet: { path: '/healthz' } },
        readinessProbe: { httpGet: { path: ready[role] } },
      })
    }
  })

  it('give a node enough time to drain', () => {
    for (const { spec } of deployments) {
      const { terminationGracePeriodSeconds, containers } = spec.template.spec
      const { seconds } = containers[0]!.lifecycle.preStop.sleep
      expect(terminationGracePeriodSeconds * 1000).toBeGreaterThan(seconds * 1000 + SUPERVISOR_DRAIN_MS)
    }
    for (const service of own) expect(service.stop_grace_period).toBe('15s')
    expect(15_000).toBeGreaterThan(SUPERVISOR_DRAIN_MS)
    expect(SUPERVISOR_DRAIN_MS).toBeGreaterThan(DRAIN_MS)
  })

  it('pin image versions', () => {
    for (const { image } of Object.values(services).filter(({ image }) => image !== 'sluice'))
      expect(image).toMatch(/:v?\d/)
  })
})

it('no balancer buffers or limits upload bodies', () => {
  const uploads = read('nginx.conf').match(/location \/pipes\/ \{[^}]*\}/)![0]
  expect(uploads).toContain('proxy_request_buffering off;')
  expect(uploads).toContain('client_max_body_size 0;')
  expect(read('haproxy.cfg')).not.toContain('http-buffer-request')
  expect(nginx('sluice-upload', 'nginx.org/location-snippets')).toContain('proxy_request_buffering off;')
  expect(nginx('sluice-upload', 'nginx.org/client-max-body-size')).toBe('0')
})

it('the balancers pass on the largest body, and log no secret addresses', () => {
  const largest = Math.max(...ROUTES.map(({ bodyBytes }) => bodyBytes)) / 1024 ** 2
  expect(read('nginx.conf').match(/location \/ \{[^}]*\}/)![0]).toContain(`client_max_body_size ${largest}m;`)
  expect(nginx('sluice-web', 'nginx.org/client-max-body-size')).toBe(`${largest}m`)
  expect(read('nginx.conf')).not.toMatch(/"path":"\$(?:uri|request_uri)"/)
  for (const text of [read('nginx.conf'), read('haproxy.cfg')])
    for (const secret of ['/u/', '/api/inbox/']) expect(text).toMatch(new RegExp(`\\^${secret}.*${secret}:`))
})

it('no balancer disconnects an idle client before Sluice does', () => {
  const waits = [...read('nginx.conf').matchAll(/client_body_timeout (\d+)s/g)]
  waits.push(...read('haproxy.cfg').matchAll(/timeout (?:client|server) (\d+)s/g))
  waits.push(...nginx('sluice-upload', 'nginx.org/location-snippets').matchAll(/client_body_timeout (\d+)s/g))
  waits.push(...haproxy('haproxy.org/timeout-server').matchAll(/(\d+)s/g))
  expect(waits).toHaveLength(5)
  for (const [, wait] of waits) expect(Number(wait) * 1000).toBeGreaterThan(IDLE_MS)
})

describe('upload nodes stay in rotation while the database is down', () => {
  it('in Kubernetes and behind HAProxy', () => {
    const { spec } = one(manifests, 'Deployment', 'sluice-upload') as Deployment
    expect(spec.template.spec.containers[0]!.readinessProbe).toMatchObject({
      httpGet: { path: '/readyz?for=upload' },
    })
    expect(read('haproxy.cfg')).toMatch(/^backend upload\n[\s\S]*?option httpchk GET \/readyz\?for=upload$/m)
  })
})

/**
 * e2e/system/balancers.test.ts runs the real programs. Its results apply to the ingress, which has the same rules.
 */
describe('the ingress responds for upload nodes that are down', () => {
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)

  it('like haproxy.cfg', () => {
    const shipped = read('haproxy.cfg').match(/http-error status 502[\s\S]*?(?=\n\nbackend web)/)![0]
    expect(lines(haproxy('haproxy.org/backend-config-snippet'))).toEqual(lines(shipped))
  })

  it('like nginx.conf', () => {
    const shipped = read('nginx.conf').match(/location @no_node \{[\s\S]*?\n {4}\}/)![0]
    expect(lines(nginx('sluice', 'nginx.org/server-snippets'))).toEqual(lines(shipped))
    for (const text of [read('nginx.conf'), nginx('sluice-upload', 'nginx.org/location-snippets')])
      expect(text).toContain('error_page 502 503 504 = @no_node;')
  })
})

it('the image contains what the server needs, and no secret', () => {
  const carried = readFileSync('.dockerignore', 'utf8')
    .match(/^!.+$/gm)!
    .map((line) => line.slice(1))
  for (const path of ['server.ts', 'lib', 'app', 'components', 'drizzle', 'package-lock.json'])
    expect(carried).toContain(path)
  const isCarried = (path: string) => carried.some((one) => path === one || path.startsWith(`${one}/`))
  // The build creates .kit.
  const read = READ_WHILE_RUNNING.filter((path) => path !== '.kit')
  expect(read.filter((path) => !isCarried(path))).toEqual([])
  expect(carried.filter((path) => path.startsWith('.') && path !== '.npmrc')).toEqual([])
  expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^USER 1000:1000$/m)
})

it("the image copies each workspace's package.json before npm ci, which requires it", () => {
  const [before] = readFileSync('Dockerfile', 'utf8').split('RUN npm ci')
  for (const folder of JSON.parse(readFileSync('package.json', 'utf8')).workspaces)
    expect(before).toContain(`COPY ${folder}/package.json ${folder}/\n`)
})

it('a release image is built only from the released package', () => {
  const image = readFileSync('Dockerfile', 'utf8')
  expect(image).toMatch(/^FROM scratch AS release$/m)
  expect(image.split(/^FROM /m).at(-1)).not.toContain('--from=build /app/')
  const workflow = readFileSync('.github/workflows/release.yml', 'utf8')
  expect(workflow).toContain('build-contexts: release=.release\n')
  const [, digest] = image.match(/^ARG (SERVER_\w+)$/m)!
  expect(workflow).toContain(`build-args: ${digest}=\${{ steps.server.outputs.sha256 }}\n`)
})

it('Node runs with the same flags in the image, with npm start, and in tests and benchmarks', () => {
  const image = readFileSync('Dockerfile', 'utf8').match(/^CMD (.+)$/m)![1]!
  expect(JSON.parse(image)).toEqual(['node', ...NODE_FLAGS, 'server.js'])
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(scripts.start).toBe(
    ['node -r ./scripts/require-node.cjs', ...NODE_FLAGS, 'scripts/start.ts'].join(' '),
  )
})

it('the image contains the commands that the documentation runs in a container', () => {
  const text = ['operations', 'releases'].map((name) => readFileSync(`docs/${name}.md`, 'utf8')).join('\n')
  const run = [...text.matchAll(/\bnode(?: |", ")scripts\/([\w.-]+)/g)].map(([, file]) => file!)
  const packed = COMMANDS.map((name) => `${name}.js`)
  expect(run).toEqual(expect.arrayContaining(['account.js', 'upgrade-check.js']))
  expect(run.filter((file) => !packed.includes(file))).toEqual([])
})
