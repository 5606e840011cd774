import { Check, Unplug } from 'lucide-react'
import { findDemoPipe } from '#lib/dashboard/demo/issue-demo-token.ts'
import { within } from '#lib/platform/kernel/waits.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { LiveDemo } from './live-demo.tsx'

const PATIENCE_MS = 1500

/** The live demo if there is a demo workspace and the database responds, otherwise a picture of it. */
export async function HeroDemo() {
  const pipe = await within(PATIENCE_MS, findDemoPipe(getRuntime())).catch(() => undefined)
  return pipe && pipe !== 'late' ? <LiveDemo endpoint={pipe.uploadUrl} /> : <HeroTrace />
}

const LINES = [
  { at: '0.0 s', text: 'POST → 201', note: 'created, 4.81 GB' },
  { at: '41.2 s', text: 'PATCH ✕', note: 'the train enters a tunnel', bad: true },
  { at: '3 h later', text: 'HEAD → 200', note: 'confirmed: 2,981,494,784' },
  { at: '+ 0.1 s', text: 'PATCH → 204', note: 'resumes from there' },
  { at: '+ 26 s', text: 'webhook → 200', note: 'transferred' },
]

/** An illustration of an upload, for servers without a demo workspace. */
export function HeroTrace() {
  return (
    <figure className="rounded-xl border bg-surface p-5 shadow-float">
      <figcaption className="flex items-center justify-between text-sm">
        <span className="font-medium">launch-cut.mov</span>
        <span className="inline-flex items-center gap-1.5 text-good">
          <Check className="size-3.5" aria-hidden />
          transferred
        </span>
      </figcaption>
      <div className="mt-3 flex h-2.5 gap-1" aria-hidden>
        <div className="w-[62%] rounded-l-full bg-water" />
        <div className="-my-1 grid w-4 place-items-center text-warn">
          <Unplug className="size-4" />
        </div>
        <div className="flex-1 rounded-r-full bg-water/55" />
      </div>
      <p className="mt-2.5 flex justify-between text-ink-faint text-xs">
        <span>2.98 GB before the interruption, sent once</span>
        <span>1.83 GB after it</span>
      </p>
      <ol className="mt-5 divide-y border-t font-mono text-xs">
        {LINES.map(({ at, text, note, bad }) => (
          <li key={at} className="grid grid-cols-[5rem_8.5rem_1fr] gap-2 py-2 max-sm:grid-cols-[4.5rem_1fr]">
            <span className="text-ink-faint">{at}</span>
            <span className={bad ? 'text-bad' : undefined}>{text}</span>
            <span className="font-sans text-ink-soft max-sm:col-start-2">{note}</span>
          </li>
        ))}
      </ol>
    </figure>
  )
}
