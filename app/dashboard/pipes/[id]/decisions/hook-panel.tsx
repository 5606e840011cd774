import { Trash2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { SecretPanel } from '#components/ui/secret-panel.tsx'
import { ActionSwitch } from '#components/ui/switch.tsx'
import { Time } from '#components/ui/time.tsx'
import type { HookAnswer } from '#lib/hooks/hook.ts'
import { removeHook, revealSecretOfHook, rotateSecretOfHook, switchHook } from './actions.ts'
import { HookForm, SendTestQuestion } from './hook-form.tsx'
import { HOOK_WORDS } from './hook-words.ts'

type Props = { pipeId: string; kind: HookAnswer['hook']; hook: HookAnswer | undefined }

/** A decision hook with its settings, test and secret. It is off until it has an address. */
export function HookPanel({ pipeId, kind, hook }: Props) {
  const { title, purpose } = HOOK_WORDS[kind]
  return (
    <section aria-label={title} className="rounded-lg border bg-surface p-4">
      {hook ? (
        <ActionSwitch
          on={hook.enabled}
          label={title}
          hint={purpose}
          action={switchHook.bind(null, pipeId, kind)}
          right="build"
        />
      ) : (
        <div>
          <h3 className="font-medium text-sm">{title}</h3>
          <p className="mt-0.5 text-ink-faint text-sm">
            {purpose} The hook is off until you enter an address.
          </p>
        </div>
      )}
      {hook?.enabled && hook.failingSince && (
        <Notice tone="bad" title="Your backend is not responding" className="mt-4">
          It stopped responding <Time at={hook.failingSince} />. {hook.fault}
        </Notice>
      )}
      {/* The form stays mounted after the first save, so that it can show the secret. */}
      <div key="form" className="mt-4 space-y-5 border-t pt-4">
        <HookForm key="fields" pipeId={pipeId} kind={kind} hook={hook} />
        {hook && <SendTestQuestion pipeId={pipeId} kind={kind} />}
        {hook && (
          <IfMay right="build">
            <SecretPanel
              reveal={revealSecretOfHook.bind(null, pipeId, kind)}
              rotate={rotateSecretOfHook.bind(null, pipeId, kind)}
              previousSecretUntil={hook.previousSecretUntil}
            />
            <DeleteHook pipeId={pipeId} kind={kind} />
          </IfMay>
        )}
      </div>
    </section>
  )
}

function DeleteHook({ pipeId, kind }: Omit<Props, 'hook'>) {
  return (
    <div className="border-t pt-4">
      <ConfirmDialog
        trigger={
          <Button tone="danger" icon={Trash2}>
            Delete this hook
          </Button>
        }
        title={`Delete the hook “${HOOK_WORDS[kind].title}”`}
        confirm="Delete"
        action={removeHook.bind(null, pipeId, kind)}
      >
        <p>Files waiting for the hook's answer are allowed. Deferred files still wait for a decision.</p>
      </ConfirmDialog>
    </div>
  )
}
