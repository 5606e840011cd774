import Link from 'next/link'
import { switchUrlSource } from '#app/dashboard/pipes/actions.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { IfMay } from '../ui/rights.tsx'
import { ActionSwitch } from '../ui/switch.tsx'

const link = 'text-water underline decoration-water-line underline-offset-3 hover:decoration-current'

export function UrlSource({ pipe }: { pipe: Pipe }) {
  return (
    <div className="rounded-lg border bg-surface p-4">
      <ActionSwitch
        on={pipe.source.url}
        label="URL"
        hint="Fetches files that are already somewhere on the internet."
        action={switchUrlSource.bind(null, pipe.id)}
        right="build"
      />
      <p className="mt-4 border-t pt-4 text-ink-faint text-sm">
        {pipe.source.url ? (
          <>
            Backends create imports through the{' '}
            <Link href="/docs/import" className={link}>
              API
            </Link>
            <IfMay right="operate">
              , and you can{' '}
              <Link href={`/dashboard/pipes/${pipe.id}/import`} className={link}>
                paste URLs here
              </Link>
            </IfMay>
            .
          </>
        ) : (
          'Switch it on to import files. While it is off, new imports get 409; those in progress continue.'
        )}
      </p>
    </div>
  )
}
