import { IfMay } from '#components/ui/rights.tsx'
import { ActionSwitch } from '#components/ui/switch.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { switchUrlSource } from '../actions.ts'

/** While the Pipe is blocked, it does not offer to import files, which would be rejected. */
export function UrlSource({ pipe, blocked }: { pipe: Pipe; blocked: boolean }) {
  return (
    <div className="rounded-lg border bg-surface p-4">
      <ActionSwitch
        on={pipe.source.url}
        label="URL"
        hint="Fetches files that are already on the internet."
        action={switchUrlSource.bind(null, pipe.id)}
        right="build"
      />
      <p className="mt-4 border-t pt-4 text-ink-faint text-sm">
        {pipe.source.url ? (
          <>
            Backends create imports through the <TextLink href="/docs/import">API</TextLink>
            {!blocked && (
              <IfMay right="operate">
                , and you can <TextLink href={`/dashboard/pipes/${pipe.id}/import`}>paste URLs here</TextLink>
              </IfMay>
            )}
            .
          </>
        ) : (
          'Switch it on to import files. While it is off, new imports get 409; those in progress continue.'
        )}
      </p>
    </div>
  )
}
