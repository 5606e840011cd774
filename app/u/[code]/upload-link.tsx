'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useState } from 'react'
import { Notice } from '#components/ui/notice.tsx'
import type { ShownLink } from '#lib/upload-links/open-link.ts'
import { UploadButton, UploadDropzone, useUploadsOf } from '#packages/react/src/index.ts'
import { UploadList } from '#packages/react/src/upload-list.tsx'
import { countIn, fill, type LinkPage, type Words } from '#packages/react/src/words.ts'
import '#packages/react/src/styles.css'
import '#components/uploader/uploader.css'
import { FieldForm } from './field-form.tsx'
import { LinkLimits } from './link-limits.tsx'
import { createLinkUploads } from './link-uploads.ts'
import { type OpenedLink, sendReceipt, visitorOf } from './open-link.ts'

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
        <Outcome control={control} texts={texts} lang={words.lang}>
          {link.receipts && (
            <Receipt code={code} place={place} control={control} texts={texts} words={words} />
          )}
        </Outcome>
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

type PasswordProps = {
  enter(password: string): Promise<void>
  /** Whether earlier uploads continue without the password. */
  continues: boolean
  texts: LinkPage['password']
}

function PasswordForm({ enter, continues, texts }: PasswordProps) {
  return (
    <FieldForm
      send={enter}
      field={{
        name: 'password',
        type: 'password',
        label: texts.label,
        hint: continues ? texts.again : texts.ask,
        autoComplete: 'off',
      }}
      submit={texts.enter}
      tone="primary"
      refusals={{ missing: texts.missing, 403: texts.wrong }}
      texts={texts}
    />
  )
}

/** The children are shown once no more files are on their way. */
function Outcome({
  control: { uploads, busy },
  texts,
  lang,
  children,
}: Shown & { lang: string; children: ReactNode }) {
  const done = uploads.filter(({ state }) => state === 'done').length
  if (busy) return <p className="text-ink-soft text-sm">{texts.keepOpen}</p>
  if (done === 0) return null
  return (
    <>
      {done === uploads.length && (
        <Notice tone="good" title={countIn(texts.arrived, done, lang)}>
          {texts.mayClose}
        </Notice>
      )}
      {children}
    </>
  )
}

/** Asks for an email address again once more files have arrived. */
function Receipt({ code, place, control, texts, words }: Shown & Pick<Props, 'code' | 'place' | 'words'>) {
  const [sent, setSent] = useState({ files: 0, email: '' })
  const { uploads } = control
  const isSent = sent.files === uploads.length

  async function send(email: string): Promise<void> {
    const batches = [...new Set(uploads.flatMap(({ batch }) => batch ?? []))].slice(-MOST_BATCHES)
    await sendReceipt({ code, visitor: visitorOf(place), email, language: words.lang, batches })
    setSent({ files: uploads.length, email })
  }

  const { label, ask, send: submit, invalid, sent: told } = texts.receipt
  return (
    <div>
      <div role="status">{isSent && <Notice tone="good">{fill(told, { email: sent.email })}</Notice>}</div>
      {!isSent && (
        <FieldForm
          send={send}
          field={{ name: 'email', type: 'email', label, hint: ask, autoComplete: 'email' }}
          submit={submit}
          refusals={{ missing: invalid, 400: invalid }}
          texts={texts.password}
        />
      )}
    </div>
  )
}

/** The maximum number of batches in a receipt. */
const MOST_BATCHES = 100
