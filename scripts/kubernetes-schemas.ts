import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'
import { misused, readOptions } from './read-options.ts'

/**
 * `npm run generate -- kubernetes-schemas <file>…`: extracts the schemas of the chart's objects from the Kubernetes
 * OpenAPI documents (api/openapi-spec/v3 in its source, or `kubectl get --raw /openapi/v3/apis/apps/v1`) and the
 * ServiceMonitor definition. Unknown fields are errors, as for kubectl.
 */
export const SCHEMAS = 'deploy/rendered/schemas.json'
const KINDS = [
  'io.k8s.api.apps.v1.Deployment',
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'io.k8s.api.core.v1.ConfigMap',
  'io.k8s.api.core.v1.Service',
  'io.k8s.api.networking.v1.Ingress',
  'io.k8s.api.networking.v1.NetworkPolicy',
  'io.k8s.api.policy.v1.PodDisruptionBudget',
]
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

type Schema = { [key: string]: unknown }
type Definition = {
  spec: {
    group: string
    names: { kind: string }
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[]
  }
}

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null

/** Removes the parts that no check needs, and rejects unknown fields where fields are listed. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (!isObject(schema)) return schema
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === 'description' && typeof value === 'string') &&
      !(key === 'format' && typeof value === 'string') &&
      key !== 'default' &&
      !key.startsWith('x-kubernetes'),
  )
  const own = Object.fromEntries(kept.map(([key, value]) => [key, strict(value)]))
  const closed = isObject(own.properties) && own.type === 'object' && own.additionalProperties === undefined
  return closed ? { ...own, additionalProperties: false } : own
}

function refsOf(schema: unknown): string[] {
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value.split('/').at(-1)!] : refsOf(value),
  )
}

/** A definition does not list metadata fields, since these are the same for all objects. */
function ofDefinition({ spec }: Definition): Record<string, Schema> {
  return Object.fromEntries(
    spec.versions.map(({ name, schema: { openAPIV3Schema: schema } }) => [
      `${spec.group}.${name}.${spec.names.kind}`,
      {
        ...schema,
        properties: {
          ...(schema.properties as Schema),
          metadata: { $ref: `#/components/schemas/${META}` },
        },
      },
    ]),
  )
}

function write(files: string[]): void {
  const all: Record<string, Schema> = {}
  const roots = [...KINDS]
  for (const file of files) {
    const document = parse(readFileSync(file, 'utf8'))
    const found = document.components?.schemas ?? ofDefinition(document)
    Object.assign(all, found)
    if (!document.components) roots.push(...Object.keys(found))
  }
  const taken: Record<string, unknown> = {}
  const take = (name: string) => {
    if (taken[name]) return
    if (!all[name]) misused(`None of these files contains ${name}`, USAGE)
    taken[name] = strict(all[name])
    for (const ref of refsOf(taken[name])) take(ref)
  }
  for (const name of roots) take(name)
  const lines = Object.keys(taken)
    .sort()
    .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(taken[name])}`)
  writeFileSync(SCHEMAS, `{\n${lines.join(',\n')}\n}\n`)
}

const USAGE = 'npm run generate -- kubernetes-schemas <OpenAPI document or definition>…'

if (import.meta.main) {
  const { positionals } = readOptions(USAGE, { allowPositionals: true })
  if (positionals.length === 0) misused('No file was given', USAGE)
  write(positionals)
}
