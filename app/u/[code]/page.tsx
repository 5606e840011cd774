import { notFound } from 'next/navigation'
import { Notice } from '#components/ui/notice.tsx'
import { hashSecret } from '#lib/platform/kernel/ids.ts'
import type { ShownLink } from '#lib/upload-links/open-link.ts'
import { readTexts } from '../../texts.ts'
import { look } from './look-at-link.ts'
import { UploadLink } from './upload-link.tsx'

type Props = { params: Promise<{ code: string }> }

export async function generateMetadata({ params }: Props) {
  const link = await look((await params).code)
  return {
    title: typeof link === 'string' ? (await readTexts()).linkPage.name : titleOf(link),
    robots: { index: false, follow: false },
    referrer: 'no-referrer' as const,
  }
}

export default async function LinkPage({ params }: Props) {
  const { code } = await params
  const link = await look(code)
  if (link === 'unknown') notFound()
  const { words, linkPage: texts } = await readTexts()
  if (link === 'limited')
    return (
      <>
        <h1 className="font-semibold text-3xl tracking-[-0.025em]">{texts.limited.title}</h1>
        <p className="mt-3 text-base text-ink-soft">{texts.limited.text}</p>
      </>
    )
  return (
    <>
      <UploadLink code={code} place={`link-${hashSecret(code)}`} link={link} texts={texts} words={words} />
      <noscript>
        <Notice tone="warn" className="mt-6">
          {texts.noScript}
        </Notice>
      </noscript>
    </>
  )
}

function titleOf({ title, pages: { name } }: ShownLink) {
  return name === null ? title : { absolute: `${title} · ${name}` }
}
