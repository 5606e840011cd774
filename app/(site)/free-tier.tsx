import { Check } from 'lucide-react'
import { formatBytes } from '#components/format.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { SignUpLink } from './sign-up-link.tsx'

export function freeTransfer(): string {
  const { freeTierBytes } = getRuntime().config
  return freeTierBytes === 0 ? 'Unlimited transfer' : `${formatBytes(freeTierBytes)} of transfer a month`
}

export function FreeTier() {
  const included = [
    freeTransfer(),
    'Unlimited Pipes, Senders and Data Stores',
    'Every webhook attempt kept for 30 days',
    'Each byte counts once, however often it is sent',
  ]
  return (
    <section id="pricing" aria-labelledby="pricing-title" className="mx-auto max-w-6xl px-4 py-10 sm:px-6">
      <div className="grid items-center gap-8 rounded-xl border border-water-line bg-water-soft p-7 sm:p-10 md:grid-cols-[1fr_auto]">
        <div>
          <h2 id="pricing-title" className="font-semibold text-3xl tracking-[-0.025em]">
            Free. No credit card required.
          </h2>
          <ul className="mt-5 grid gap-2 sm:grid-cols-2 sm:gap-x-8">
            {included.map((text) => (
              <li key={text} className="flex gap-2.5 text-ink-soft text-sm">
                <Check className="mt-0.5 size-4 shrink-0 text-water" aria-hidden />
                {text}
              </li>
            ))}
          </ul>
        </div>
        <SignUpLink size="lg">Create an account</SignUpLink>
      </div>
    </section>
  )
}
