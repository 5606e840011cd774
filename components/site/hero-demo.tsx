import { findDemoPipe } from '#lib/dashboard/demo/issue-demo-token.ts'
import { within } from '#lib/platform/kernel/waits.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { HeroTrace } from './hero-trace.tsx'
import { LiveDemo } from './live-demo.tsx'

const PATIENCE_MS = 1500

/** The real thing where there is a demo workspace and a database that answers, else a picture of it. */
export async function HeroDemo() {
  const pipe = await within(PATIENCE_MS, findDemoPipe(getRuntime())).catch(() => undefined)
  return pipe && pipe !== 'late' ? <LiveDemo endpoint={pipe.uploadUrl} /> : <HeroTrace />
}
