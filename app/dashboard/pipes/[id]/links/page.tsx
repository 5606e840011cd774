import { Link2, Plus } from 'lucide-react'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { reachableAddresses } from '#lib/identity/accounts/users.ts'
import { listUploadLinks } from '#lib/upload-links/manage-links.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../../../page-query.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { SourceOff } from '../source-off.tsx'
import { CreateLink } from './forms.tsx'
import { LinkTable } from './link-table.tsx'

export const generateMetadata = titledByPipe('Upload links')

type Props = PipeProps & { searchParams: Search }

export default async function UploadLinks({ searchParams, ...props }: Props) {
  const query = await readSearch(searchParams)
  const { runtime, actor, id, pipe } = await currentPipe(props, 'see')
  const page = { ...pageOf(query), pipeId: id }
  const { data, nextCursor } = await orNotFound(listUploadLinks(runtime, actor, page))
  const addresses = await reachableAddresses(runtime, actor.workspaceId)
  const path = `/dashboard/pipes/${id}/links`
  if (!pipe.source.http && data.length === 0)
    return (
      <SourceOff pipeId={id}>
        Switch on this Pipe's HTTP (TUS) source, then let people upload to it through a link.
      </SourceOff>
    )
  return (
    <section aria-labelledby="links" className="space-y-3">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 id="links" className="font-semibold text-lg">
            Upload links
          </h2>
          <p className="mt-0.5 text-ink-soft text-sm">
            Pages where people without an account can upload to this Pipe.{' '}
            <TextLink href="/docs/upload-links">How they work</TextLink>
          </p>
        </div>
        <IfMay right="build">
          <CreateLink pipeId={id} asked={query.new === '1'} button={data.length > 0} addresses={addresses} />
        </IfMay>
      </div>
      {data.length === 0 ? (
        <EmptyState
          icon={Link2}
          title="No upload links yet"
          action={
            <IfMay right="build">
              <ButtonLink href={`${path}?new=1`} tone="primary" scroll={false} icon={Plus}>
                Create a link
              </ButtonLink>
            </IfMay>
          }
        >
          Send one to a customer or a colleague: it opens a page that accepts files until you close the link
          or it reaches its limit.
        </EmptyState>
      ) : (
        <LinkTable links={data} addresses={addresses} />
      )}
      <Pager path={path} query={query} nextCursor={nextCursor} />
    </section>
  )
}
