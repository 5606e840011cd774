import { notFound } from 'next/navigation'
import { getRuntime } from '#lib/platform/runtime.ts'
import { OnThisPage } from '../../on-this-page.tsx'
import { API_GROUPS } from '../groups.ts'
import { OperationView } from '../operation-view.tsx'

type Props = { params: Promise<{ group: string }> }

export async function generateMetadata({ params }: Props) {
  const group = await find(params)
  return group && { title: group.title, description: group.summary, alternates: { canonical: group.href } }
}

export default async function ApiGroup({ params }: Props) {
  const group = await find(params)
  if (!group) notFound()
  const { title, summary, operations } = group
  const { baseUrl } = getRuntime().config
  return (
    <div className="grid gap-x-10 xl:grid-cols-[minmax(0,44rem)_11rem] xl:justify-between">
      <article className="min-w-0">
        <h1 className="font-semibold text-3xl tracking-[-0.025em]">{title}</h1>
        <p className="mt-3 mb-5 text-[0.9375rem] text-ink-soft leading-relaxed">{summary}</p>
        <div className="divide-y overflow-hidden rounded-lg border bg-surface">
          {operations.map((operation) => (
            <OperationView key={operation.id} operation={operation} baseUrl={baseUrl} />
          ))}
        </div>
      </article>
      <OnThisPage headings={operations.map(({ id }) => ({ id, text: id }))} />
    </div>
  )
}

async function find(params: Props['params']) {
  const href = `/docs/api/${(await params).group}`
  return API_GROUPS.find((group) => group.href === href)
}
