import type { ReactNode } from 'react'
import { Wordmark } from '../brand/mark.tsx'
import { buttonLook } from '../ui/button.tsx'

type Props = { code: string; title: string; children: ReactNode; action?: ReactNode }

/** Part of every page, so it is kept small. Its plain links reload everything, which is safest after an error. */
export function ErrorPage({ code, title, children, action }: Props) {
  return (
    <main id="main" className="mx-auto flex min-h-[80dvh] max-w-md flex-col justify-center px-5">
      <Wordmark />
      <p className="mt-10 font-mono text-ink-faint text-sm">{code}</p>
      <h1 className="mt-1 font-semibold text-3xl tracking-[-0.025em]">{title}</h1>
      <div className="mt-2 text-base text-ink-soft">{children}</div>
      <div className="mt-6 flex flex-wrap gap-2">
        {action}
        <a href="/dashboard" className={buttonLook({ tone: action ? 'plain' : 'primary' })}>
          Go to the dashboard
        </a>
        <a href="/docs" className={buttonLook({})}>
          Documentation
        </a>
      </div>
    </main>
  )
}
