import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Notice } from '#components/ui/notice.tsx'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'
import { hashSecret } from '#lib/platform/kernel/ids.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { lookAtLink, type ShownLink } from '#lib/upload-links/open-link.ts'
import { visitor } from '../../session.ts'
import { readTexts } from '../../texts.ts'
import { UploadLink } from './upload-link.tsx'

type Props = { params: Promise<{ code: string }> }

/** One lookup per request, since lookups of unknown codes are counted. */
const look = cache(async (code: string): Promise<ShownLink | 'unknown' | 'limited'> => {
  const { address } = await visitor()
  try {
    return await lookAtLink(getRuntime(), code, address)
  } catch (error) {
    if (isSluiceError(error) && error.code === 'not_found') return 'unknown'
    if (isSluiceError(error) && error.code === 'rate_limited') return 'limited'
    throw error
  }
})

export async function generateMetadata({ params }: Props) {
  const link = await look((await params).code)
  return {
    title: typeof link === 'string' ? (await readTexts()).linkPage.name : link.title,
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
