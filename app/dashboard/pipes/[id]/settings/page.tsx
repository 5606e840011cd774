import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { previewPipeDeletion } from '#lib/workspace/pipes/delete-pipe.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { remove, save } from './actions.ts'

export const generateMetadata = titledByPipe('Settings')

export default async function Settings(props: PipeProps) {
  const { runtime, actor, id, pipe } = await currentPipe(props, 'see')
  const { uploadsUnderWay } = await previewPipeDeletion(runtime, actor, id)
  return (
    <div className="max-w-3xl space-y-5">
      <Panel title="General">
        <ActionForm right="build" action={save.bind(null, id)} submit="Save" width="md">
          <TextField name="name" label="Name" defaultValue={pipe.name} maxLength={100} />
        </ActionForm>
      </Panel>
      <IfMay right="build">
        <Panel
          tone="danger"
          title="Danger zone"
          description="Deleting a Pipe closes its endpoint immediately, and its tokens stop working."
          aside={
            <ConfirmDialog
              trigger="Delete Pipe…"
              look={{ tone: 'danger' }}
              title={`Delete ${pipe.name}`}
              name={pipe.name}
              confirm="Delete this Pipe"
              action={remove.bind(null, id)}
            >
              <ul className="list-disc space-y-1 pl-5">
                <li>
                  {uploadsUnderWay === 0 ? (
                    'No uploads in progress.'
                  ) : (
                    <strong className="text-ink">
                      {plural(uploadsUnderWay, 'upload')} in progress will be canceled.
                    </strong>
                  )}
                </li>
                <li>Its endpoint responds with 404, and its tokens stop working.</li>
                <li>Its webhook output is deleted, along with undelivered webhooks.</li>
                <li>File records are kept. Objects in your bucket are not touched.</li>
              </ul>
            </ConfirmDialog>
          }
        />
      </IfMay>
    </div>
  )
}
