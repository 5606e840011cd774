'use client'

import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { plural } from '#components/format.ts'
import { Notice } from '#components/ui/notice.tsx'
import type { ShownLink } from '#lib/upload-links/open-link.ts'
import { UploadButton, UploadDropzone, useUploadsOf } from '#packages/react/src/index.ts'
import { UploadList } from '#packages/react/src/upload-list.tsx'
import { WORDS } from '#packages/react/src/words.ts'
import '#packages/react/src/styles.css'
import '#components/uploader/uploader.css'
import { LinkLimits } from './link-limits.tsx'
import { createLinkUploads } from './link-uploads.ts'
import type { OpenedLink } from './open-link.ts'
import { PasswordForm } from './password-form.tsx'

const CLOSED = {
  closed: ['This link is closed', 'Ask the person who sent it to reopen it or send a new one.'],
  expired: ['This link has expired', 'Ask the person who sent it for a new one.'],
  exhausted: [
    'This link accepts no more files',
    'It has reached its limit. Ask the person who sent it to raise the limit or send another link.',
  ],
} as const

type Props = { code: string; place: string; link: ShownLink }

/** An upload link's page, for people without an account. */
export function UploadLink({ code, place, link }: Props) {
  const [knowsPassword, setKnowsPassword] = useState(!link.hasPassword)
  const onPasswordChanged = () => setKnowsPassword(false)
  const [{ uploads, ...own }] = useState(() => createLinkUploads({ code, place, onPasswordChanged }))
  const [opened, setOpened] = useState<OpenedLink>()
  const control = useUploadsOf(uploads)
  const router = useRouter()
  const isOpen = link.state === 'open'
  const mayCreate = isOpen && knowsPassword
  // Once an upload has started, the list stays visible, even after the link has accepted its last file.
  const [hasBegun, setBegun] = useState(mayCreate)
  const message = opened?.message || link.message

  useEffect(() => uploads.watch(own.pauseUnbegun), [uploads, own.pauseUnbegun])
  useEffect(() => (hasBegun ? uploads.open() : undefined), [uploads, hasBegun])
  useEffect(() => {
    if (mayCreate || hasBegun) return
    void own
      .comeBack()
      .then((answer) => {
        if (!answer) return
        setOpened(answer)
        setBegun(true)
      })
      // Visitors who may upload see the error on their next action; for all others it does not matter.
      .catch(() => undefined)
  }, [own.comeBack, mayCreate, hasBegun])
  const isOver = control.uploads.length > 0 && !control.busy
  useEffect(() => {
    // The link's remaining limits may have changed.
    if (isOver) router.refresh()
  }, [isOver, router])

  async function enter(password: string): Promise<void> {
    setOpened(await own.enter(password))
    setKnowsPassword(true)
    setBegun(true)
  }

  return (
    <>
      <h1 className="font-semibold text-3xl tracking-[-0.025em] [overflow-wrap:anywhere]">{link.title}</h1>
      {message && (
        <p className="mt-3 whitespace-pre-line text-base text-ink-soft [overflow-wrap:anywhere]">{message}</p>
      )}
      <div className="own-uploader mt-6 space-y-4">
        {link.state !== 'open' && (
          <Notice tone="warn" title={CLOSED[link.state][0]}>
            {CLOSED[link.state][1]}
            {hasBegun && control.busy && ' Uploads in progress continue.'}
          </Notice>
        )}
        {isOpen && !knowsPassword && <PasswordForm enter={enter} continues={hasBegun} />}
        {mayCreate && (
          <>
            <LinkLimits link={link} />
            <UploadDropzone
              control={control}
              accept={link.allowedTypes.join(',') || undefined}
              multiple={link.filesLeft !== 1}
            />
          </>
        )}
        {!mayCreate && hasBegun && <Begun control={control} />}
        <Outcome control={control} />
      </div>
    </>
  )
}

type Control = ReturnType<typeof useUploadsOf>

/** The uploads of a visitor who cannot add files. Only files that the browser did not keep can be chosen again. */
function Begun({ control }: { control: Control }) {
  if (control.uploads.some(({ state }) => state === 'missing'))
    return <UploadButton control={control}>Choose the same files again</UploadButton>
  return (
    <div className="sluice">
      <UploadList control={control} words={WORDS} />
    </div>
  )
}

function Outcome({ control: { uploads, busy } }: { control: Control }) {
  const done = uploads.filter(({ state }) => state === 'done').length
  if (busy)
    return (
      <p className="text-ink-soft text-sm">
        Keep this page open until everything has arrived. If it is closed or the connection is lost, open the
        link again in this browser: the upload continues where it stopped.
      </p>
    )
  if (done === 0 || done < uploads.length) return null
  return (
    <Notice
      tone="good"
      title={done === 1 ? 'Your file has arrived' : `All ${plural(done, 'file')} have arrived`}
    >
      You can close this page.
    </Notice>
  )
}
