'use client'

import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { Notice } from '#components/ui/notice.tsx'
import type { ShownLink } from '#lib/upload-links/open-link.ts'
import { UploadButton, UploadDropzone, useUploadsOf } from '#packages/react/src/index.ts'
import { UploadList } from '#packages/react/src/upload-list.tsx'
import { countIn, type LinkPage, type Words } from '#packages/react/src/words.ts'
import '#packages/react/src/styles.css'
import '#components/uploader/uploader.css'
import { LinkLimits } from './link-limits.tsx'
import { createLinkUploads } from './link-uploads.ts'
import type { OpenedLink } from './open-link.ts'
import { PasswordForm } from './password-form.tsx'

type Props = { code: string; place: string; link: ShownLink; texts: LinkPage; words: Words }

/** An upload link's page, for people without an account. */
export function UploadLink({ code, place, link, texts, words }: Props) {
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
      <h1 dir="auto" className="font-semibold text-3xl tracking-[-0.025em] [overflow-wrap:anywhere]">
        {link.title}
      </h1>
      {message && (
        <p dir="auto" className="mt-3 whitespace-pre-line text-base text-ink-soft [overflow-wrap:anywhere]">
          {message}
        </p>
      )}
      <div className="own-uploader mt-6 space-y-4">
        {link.state !== 'open' && (
          <Notice tone="warn" title={texts[link.state].title}>
            {texts[link.state].text}
            {hasBegun && control.busy && ` ${texts.continues}`}
          </Notice>
        )}
        {isOpen && !knowsPassword && (
          <PasswordForm enter={enter} continues={hasBegun} texts={texts.password} />
        )}
        {mayCreate && (
          <>
            <LinkLimits link={link} texts={texts} lang={words.lang} />
            <UploadDropzone
              control={control}
              words={words}
              accept={link.allowedTypes.join(',') || undefined}
              multiple={link.filesLeft !== 1}
            />
          </>
        )}
        {!mayCreate && hasBegun && <Begun control={control} texts={texts} words={words} />}
        <Outcome control={control} texts={texts} lang={words.lang} />
      </div>
    </>
  )
}

type Shown = { control: ReturnType<typeof useUploadsOf>; texts: LinkPage }

/** The uploads of a visitor who cannot add files. Only files that the browser did not keep can be chosen again. */
function Begun({ control, texts, words }: Shown & { words: Words }) {
  if (control.uploads.some(({ state }) => state === 'missing'))
    return (
      <UploadButton control={control} words={words}>
        {texts.chooseAgain}
      </UploadButton>
    )
  return (
    <div className="sluice">
      <UploadList control={control} words={words} />
    </div>
  )
}

function Outcome({ control: { uploads, busy }, texts, lang }: Shown & { lang: string }) {
  const done = uploads.filter(({ state }) => state === 'done').length
  if (busy) return <p className="text-ink-soft text-sm">{texts.keepOpen}</p>
  if (done === 0 || done < uploads.length) return null
  return (
    <Notice tone="good" title={countIn(texts.arrived, done, lang)}>
      {texts.mayClose}
    </Notice>
  )
}
