import { findDemoPipe } from '#lib/demo/issue-demo-token.ts'
import { getRuntime } from '#lib/runtime.ts'
import { HeroTrace } from './hero-trace.tsx'
import { LiveDemo } from './live-demo.tsx'

/** The real thing where there is a demo workspace, else a picture of it. */
export async function HeroDemo() {
  const pipe = await findDemoPipe(getRuntime())
  return pipe ? <LiveDemo endpoint={pipe.uploadUrl} /> : <HeroTrace />
}
