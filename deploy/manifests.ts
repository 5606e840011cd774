import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { renderedFile, type Variant } from '../scripts/chart.ts'

/** A manifest from the rendered chart. */
export type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> }
  data?: Record<string, string>
}
type Probe = { httpGet: { path: string }; periodSeconds?: number; timeoutSeconds?: number }
type Container = {
  image: string
  env: { name: string; value: string }[]
  readinessProbe: Probe
  lifecycle: { preStop: { sleep: { seconds: number } } }
}
export type Deployment = Manifest & {
  spec: {
    strategy: { rollingUpdate: { maxSurge: number; maxUnavailable: number } }
    template: { spec: { terminationGracePeriodSeconds: number; containers: Container[] } }
  }
}

export function manifestsOf(
  variant: Variant,
  text = readFileSync(renderedFile(variant), 'utf8'),
): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest)
}

export function one(manifests: Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  if (!found) throw new Error(`The chart has no ${kind} ${name}`)
  return found
}
