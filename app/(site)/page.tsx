import { ArrowRight } from 'lucide-react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { Explain } from './explain.tsx'
import { FreeTier, freeTransfer } from './free-tier.tsx'
import { HeroDemo } from './hero-demo.tsx'
import { Properties } from './properties.tsx'
import { SignUpLink } from './sign-up-link.tsx'

export const metadata = { alternates: { canonical: '/' } }

export default function Landing() {
  return (
    <main id="main">
      {/* Aligned to the top: the text is drawn before the demo has been streamed, and must not move when the demo arrives. */}
      <section className="mx-auto grid max-w-6xl items-start gap-x-14 gap-y-12 px-4 pt-12 pb-16 sm:px-6 sm:pt-20 lg:grid-cols-[1.02fr_1fr]">
        <div className="xl:pt-3.5">
          <h1 className="font-semibold text-4xl tracking-[-0.035em]">
            Uploads that pick up where they left off.
          </h1>
          <p className="mt-5 max-w-[34rem] text-ink-soft text-lg leading-relaxed">
            Sluice gives you a TUS endpoint, streams every byte straight into your own S3 bucket, and sends
            your backend a signed webhook once the file is there. A dropped connection loses nothing that has
            already arrived.
          </p>
          <div className="mt-7 flex flex-wrap gap-3">
            <SignUpLink size="lg">
              Start free
              <ArrowRight aria-hidden />
            </SignUpLink>
            <ButtonLink href="/docs" size="lg">
              Read the quickstart
            </ButtonLink>
          </div>
          <p className="mt-4 text-ink-faint text-sm">{freeTransfer()}, unlimited Pipes, no card.</p>
        </div>
        <HeroDemo />
      </section>
      <Explain />
      <Properties />
      <FreeTier />
    </main>
  )
}
