import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { type Deployment, manifestsOf, one } from '../../../deploy/manifests.ts'
import { freePort } from '../../../test/support/postgres.ts'
import type { Sluice } from '../../../test/support/sluice.ts'
import type { Ingress } from './ingress.ts'

/**
 * Simulates what Kubernetes does with a Deployment's pods, with the chart's timing. A pod is an endpoint as long as its
 * readiness probe succeeds. A deleted pod stops being an endpoint, and its pause before SIGTERM starts at the same
 * moment. If it is still running after the grace period, it gets SIGKILL. The ingress controller learns about endpoints
 * with a delay.
 */
export type Cluster = ReturnType<typeof openCluster>
type Pod = { port: number; node: Sluice; ready: boolean }
export type Ended = { code: number | null; killed: boolean; seconds: number }
type Options = {
  ingress: Ingress
  start(port: number): Promise<Sluice>
  running: { port: number; node: Sluice }[]
}

const HEARD_AFTER_MS = seconds(1)

const { spec } = one(manifestsOf('defaults'), 'Deployment', 'sluice-upload') as Deployment
const { terminationGracePeriodSeconds, containers } = spec.template.spec
const { readinessProbe, lifecycle } = containers[0]!

export function openCluster({ ingress, start, running }: Options) {
  const pods = new Set<Pod>(running.map((pod) => ({ ...pod, ready: true })))
  const ended: Promise<Ended>[] = []
  let told = Promise.resolve()

  /** Updates are sent in order, each with the endpoints at the time of its change. */
  const tell = () => {
    const ports = [...pods].filter(({ ready }) => ready).map(({ port }) => port)
    const due = sleep(HEARD_AFTER_MS)
    told = told.then(() => due).then(() => ingress.lead(ports))
    return told
  }

  const create = async () => {
    const port = await freePort()
    const pod = { port, node: await start(port), ready: false }
    pods.add(pod)
    const { path } = readinessProbe.httpGet
    while (!(await fetch(`http://127.0.0.1:${port}${path}`)).ok)
      await sleep(seconds(readinessProbe.periodSeconds!))
    pod.ready = true
    void tell()
  }

  const remove = (pod: Pod) => {
    pods.delete(pod)
    void tell()
    const end = terminate(pod.node)
    ended.push(end)
    return end
  }

  return {
    /**
     * Behaves like `kubectl rollout restart` with `maxSurge: 1` and `maxUnavailable: 0`. It does not wait for
     * terminating pods.
     */
    async rollOut() {
      for (const pod of [...pods]) {
        await create()
        void remove(pod)
      }
    },
    /**
     * Behaves like `kubectl drain` for the machine of each pod. The disruption budget allows one pod to be evicted at a
     * time, and the next one once its replacement is ready.
     */
    async drain() {
      for (const pod of [...pods]) {
        void remove(pod)
        await create()
      }
    },
    /** How each deleted pod ended. */
    ended: () => Promise.all(ended),
    async close() {
      await told
      await Promise.all([...pods].map(({ node }) => node.kill()))
    },
  }
}

async function terminate({ child }: Sluice): Promise<Ended> {
  const startedAt = performance.now()
  const exited = once(child, 'exit') as Promise<[number | null]>
  const grace = new AbortController()
  const killed = sleep(seconds(terminationGracePeriodSeconds), true, { signal: grace.signal }).catch(
    () => false,
  )
  void killed.then((late) => late && child.kill('SIGKILL'))
  await sleep(seconds(lifecycle.preStop.sleep.seconds))
  child.kill('SIGTERM')
  const [code] = await exited
  grace.abort()
  return { code, killed: await killed, seconds: (performance.now() - startedAt) / 1000 }
}
