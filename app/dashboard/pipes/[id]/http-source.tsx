import { Copyable } from '#components/ui/copyable.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { ActionSwitch } from '#components/ui/switch.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { switchSource } from '../actions.ts'

/** While the Pipe is blocked, it does not offer to try an upload, which would be rejected. */
export function HttpSource({ pipe, blocked }: { pipe: Pipe; blocked: boolean }) {
  return (
    <div className="rounded-lg border bg-surface p-4">
      <ActionSwitch
        on={pipe.source.http}
        label="HTTP (TUS)"
        hint="Accepts resumable uploads from browsers, apps and servers."
        action={switchSource.bind(null, pipe.id)}
        right="build"
      />
      {pipe.source.http ? (
        <div className="mt-4 border-t pt-4">
          <p className="mb-1.5 font-medium text-sm">Endpoint</p>
          <Copyable text={pipe.uploadUrl} what="endpoint" />
          <p className="mt-2 text-ink-faint text-sm">
            Add an uploader to your page with the code under{' '}
            <TextLink href={`/dashboard/pipes/${pipe.id}/embed`}>Embed</TextLink>
            {!blocked && (
              <IfMay right="operate">
                , or <TextLink href={`/dashboard/pipes/${pipe.id}/try`}>try it here</TextLink>
              </IfMay>
            )}
            .
          </p>
        </div>
      ) : (
        <p className="mt-4 border-t pt-4 text-ink-faint text-sm">
          Switch it on to get the endpoint. While it is off, new uploads get 403; those in progress continue.
        </p>
      )}
    </div>
  )
}
