'use client'

import { create, importFiles, remove, save } from '#app/dashboard/pipes/actions.ts'
import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { CheckField, SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'

type CreateProps = { stores: { id: string; label: string }[]; chosen: string | undefined }

export function CreatePipe({ stores, chosen }: CreateProps) {
  return (
    <ActionForm action={create} submit="Create Pipe">
      <TextField name="name" label="Name" placeholder="Video uploads" maxLength={100} autoFocus />
      <SelectField
        name="dataStoreId"
        label="Data Store"
        hint="Where the Pipe's files go."
        defaultValue={chosen}
        options={stores.map(({ id, label }) => [id, label])}
      />
      <CheckField
        name="sourceHttp"
        label="Switch on its HTTP (TUS) source"
        hint="The Pipe then accepts uploads once its bucket is ready. You can change this at any time."
        defaultChecked
      />
    </ActionForm>
  )
}

export function PipeSettings({ pipe }: { pipe: Pipe }) {
  return (
    <ActionForm right="build" action={save.bind(null, pipe.id)} submit="Save" width="md">
      <TextField name="name" label="Name" defaultValue={pipe.name} maxLength={100} />
    </ActionForm>
  )
}

export function ImportForm({ pipeId }: { pipeId: string }) {
  return (
    <ActionForm
      right="operate"
      action={importFiles.bind(null, pipeId)}
      submit="Import"
      className="flex flex-col gap-4"
    >
      <TextArea
        name="urls"
        label="URLs"
        mono
        rows={8}
        placeholder={'https://example.com/films/one.mp4\nhttps://example.com/films/two.mp4'}
        hint="One per line, up to 1,000. Sluice fetches them in the background, and resumes if a connection is lost."
      />
    </ActionForm>
  )
}

type DeleteProps = { id: string; name: string; underWay: number }

export function DeletePipe({ id, name, underWay }: DeleteProps) {
  return (
    <IfMay right="build">
      <Panel
        tone="danger"
        title="Danger zone"
        description="Deleting a Pipe closes its endpoint immediately, and its tokens stop working."
        aside={
          <ConfirmDialog
            trigger={<Button tone="danger">Delete Pipe…</Button>}
            title={`Delete ${name}`}
            name={name}
            confirm="Delete this Pipe"
            action={remove.bind(null, id)}
          >
            <ul className="list-disc space-y-1 pl-5">
              <li>
                {underWay === 0 ? (
                  'No uploads in progress.'
                ) : (
                  <strong className="text-ink">
                    {plural(underWay, 'upload')} in progress will be canceled.
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
  )
}
