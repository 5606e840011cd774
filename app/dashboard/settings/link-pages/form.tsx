'use client'

import { type FormEvent, useState } from 'react'
import { brandStyle } from '#components/brand/brand-colors.ts'
import { LinkBrand } from '#components/brand/link-brand.tsx'
import { ActionForm } from '#components/ui/action-form.tsx'
import { buttonLook } from '#components/ui/button.tsx'
import { CheckField, TextArea, TextField } from '#components/ui/field.tsx'
import type { LinkPages } from '#lib/upload-links/link-pages.ts'
import { saveLinkPages } from './actions.ts'

type Props = { pages: LinkPages; maxLogoBytes: number }

export function LinkPagesForm({ pages, maxLogoBytes }: Props) {
  const [shown, setShown] = useState(pages)
  const [isTooLarge, setTooLarge] = useState(false)

  function preview({ currentTarget, target }: FormEvent<HTMLElement>) {
    const input = target as HTMLInputElement
    if (input.files) {
      // The server would refuse the whole form.
      const isTooLarge = (input.files[0]?.size ?? 0) > maxLogoBytes
      if (isTooLarge) input.value = ''
      setTooLarge(isTooLarge)
    }
    const data = new FormData(currentTarget.closest('form')!)
    const textOf = (name: string) => String(data.get(name) ?? '').trim()
    const logo = data.get('logo') as File | null
    setShown({
      name: textOf('name') || null,
      color: /^#[0-9a-f]{6}$/i.test(textOf('color')) ? textOf('color') : null,
      text: textOf('text'),
      logoUrl: data.has('withoutLogo') ? null : logo?.size ? URL.createObjectURL(logo) : pages.logoUrl,
    })
  }

  return (
    <ActionForm right="administer" action={saveLinkPages} submit="Save" submitTone="plain">
      <div onInput={preview} className="flex flex-col gap-4">
        <TextField
          name="name"
          label="Name"
          optional
          hint="Shown instead of “Sluice”."
          defaultValue={pages.name ?? ''}
          maxLength={100}
          autoComplete="off"
          className="max-w-sm"
        />
        <TextField
          // A new field, without the file, once that is saved.
          key={pages.logoUrl}
          name="logo"
          label="Logo"
          type="file"
          accept="image/png,image/jpeg,image/webp"
          optional
          hint={`A PNG, JPEG or WebP image of at most ${maxLogoBytes / 1024} KiB.`}
          className="max-w-sm"
        />
        {isTooLarge && (
          <p role="alert" className="text-bad text-xs">
            The image has more than {maxLogoBytes / 1024} KiB. Choose a smaller one.
          </p>
        )}
        {pages.logoUrl !== null && <CheckField name="withoutLogo" label="Remove the logo" />}
        <TextField
          name="color"
          label="Color"
          optional
          mono
          placeholder="#0b6b7f"
          hint="Of buttons and progress."
          defaultValue={pages.color ?? ''}
          maxLength={7}
          autoComplete="off"
          className="max-w-40"
        />
        <TextArea
          name="text"
          label="Text"
          optional
          rows={2}
          placeholder="Questions? Write to hello@example.com."
          hint="Shown at the bottom of each page."
          defaultValue={pages.text}
          maxLength={500}
        />
      </div>
      <Preview pages={shown} />
    </ActionForm>
  )
}

function Preview({ pages: { color, text, ...brand } }: { pages: LinkPages }) {
  return (
    <figure className="overflow-hidden rounded-lg border">
      <figcaption className="border-b bg-sunken px-3 py-1.5 text-ink-faint text-xs">Preview</figcaption>
      <div className="space-y-4 bg-canvas p-4" style={brandStyle(color)}>
        <LinkBrand {...brand} />
        <div className="flex h-24 items-center justify-center rounded-lg border border-line-strong border-dashed bg-surface">
          <span className={buttonLook({ tone: 'primary' })}>Choose files</span>
        </div>
        {text && (
          <p
            dir="auto"
            className="whitespace-pre-line text-center text-ink-soft text-xs [overflow-wrap:anywhere]"
          >
            {text}
          </p>
        )}
      </div>
    </figure>
  )
}
