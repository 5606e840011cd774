import { notFound } from 'next/navigation'
import { Markdown } from '#app/(site)/docs/markdown.tsx'
import { errorAdvice } from '#lib/platform/kernel/error-advice.ts'
import { type ErrorCode, errorCodes } from '#lib/platform/kernel/errors.ts'

type Props = { params: Promise<{ code: string }> }

/** The page that an error's `type` links to. */
export async function generateMetadata({ params }: Props) {
  const code = await find(params)
  return code && { title: errorCodes[code][1], description: errorAdvice[code].means }
}

export default async function ProblemPage({ params }: Props) {
  const code = await find(params)
  if (!code) notFound()
  const [status, title] = errorCodes[code]
  const { means, remedy } = errorAdvice[code]
  const source = [
    `# ${title}`,
    `\`${code}\`, usually with status ${status}.`,
    '## What it means',
    means,
    '## What to do',
    remedy,
    'All codes are listed under [Errors](/docs/errors).',
  ]
  return (
    <article className="max-w-[44rem] text-[0.9375rem]">
      <Markdown source={source.join('\n\n')} />
    </article>
  )
}

async function find(params: Props['params']): Promise<ErrorCode | undefined> {
  const { code } = await params
  return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : undefined
}
