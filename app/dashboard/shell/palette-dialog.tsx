'use client'

import * as Radix from '@radix-ui/react-dialog'
import { Command } from 'cmdk'
import {
  BookOpen,
  Database,
  Files,
  FileUp,
  Inbox,
  KeySquare,
  Link as LinkIcon,
  type LucideIcon,
  Plus,
  RotateCw,
  Search,
  Settings,
  ShieldCheck,
  UserRound,
  Webhook,
  Workflow,
} from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useRef, useState } from 'react'
import { useReturnFocus } from '#components/ui/return-focus.ts'
import { useMay } from '#components/ui/rights.tsx'
import type { SearchHit } from '#lib/dashboard/find-in-workspace.ts'
import { WORKSPACE, YOU } from '../settings/sections.ts'
import { findAnything } from './find-anything.ts'
import { NAV_ITEMS } from './nav-list.tsx'
import { useDocs } from './use-docs.ts'

const KINDS = {
  pipe: { title: 'Pipes', icon: Workflow },
  file: { title: 'Files', icon: FileUp },
  batch: { title: 'Batches', icon: Files },
  subject: { title: 'Subjects', icon: UserRound },
  delivery: { title: 'Webhooks', icon: Webhook },
  link: { title: 'Upload links', icon: LinkIcon },
  sender: { title: 'Senders', icon: KeySquare },
  dataStore: { title: 'Data Stores', icon: Database },
} as const

/** Each opens the page or dialog where the action is done. */
const ACTIONS = (
  [
    ['build', 'pipes/new', 'Create a Pipe', 'new pipe', Plus],
    ['administer', 'data-stores/new', 'Connect a bucket', 'new data store', Plus],
    ['build', 'senders?new=1', 'Create a Sender', 'new token sk_', Plus],
    ['build', 'settings/keys?new=1', 'Create an account key', 'new token ak_', Plus],
    ['operate', 'webhooks?resend=1', 'Resend all undelivered webhooks', 'retry failed', RotateCw],
  ] as const
).map(([right, path, title, words, icon]) => ({ right, href: `/dashboard/${path}`, title, words, icon }))

const PAGES = [
  ...NAV_ITEMS,
  { href: '/dashboard/webhooks/inbox', title: 'Webhook inbox', icon: Inbox },
  { href: '/dashboard/webhooks/verify', title: 'Verify a signature', icon: ShieldCheck },
  ...[...YOU, ...WORKSPACE].map((section) => ({
    ...section,
    title: `Settings: ${section.title}`,
    icon: Settings,
  })),
  { href: '/docs', title: 'Documentation', icon: BookOpen },
  { href: '/docs/api', title: 'API reference', icon: BookOpen },
]

/** A webhook can be found by its event id, which is in neither its title nor its address. */
const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

const groupLook =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-ink-faint [&_[cmdk-group-heading]]:text-xs'
const itemLook =
  'flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover'

type Item = { href: string; title: string; icon: LucideIcon; hint?: string }

type Props = { open: boolean; onOpenChange: (open: boolean) => void }

export function PaletteDialog({ open, onOpenChange }: Props) {
  const router = useRouter()
  const [query, setQuery] = useState('')
  const found = useFound(open, query)
  const docs = useDocs(query)
  const focus = useReturnFocus()
  const may = useMay()
  const go = (href: string) => {
    onOpenChange(false)
    setQuery('')
    router.push(href)
  }
  const wanted = query.trim().toLowerCase()
  const matches = ({ title, href }: { title: string; href: string }) =>
    title.toLowerCase().includes(wanted) || href.split('/').at(-1)!.includes(wanted)
  const pages = PAGES.filter(matches)
  const actions = ACTIONS.filter(
    (action) => may(action.right) && (matches(action) || action.words.includes(wanted)),
  )
  // Results for the previous query stay until the new ones arrive, and the user may press Enter before that.
  const hits = found.filter((hit) => matches(hit) || isId(wanted))
  const groups: { heading: string; items: Item[] }[] = [
    ...(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => {
      const { title, icon } = KINDS[kind]
      return {
        heading: title,
        items: hits.filter((hit) => hit.kind === kind).map((hit) => ({ ...hit, icon })),
      }
    }),
    { heading: 'Actions', items: actions },
    { heading: 'Go to', items: pages },
    { heading: 'Documentation', items: docs },
  ].filter(({ items }) => items.length > 0)
  const selection = useFirstUntilMoved(open, groups[0]?.items[0]?.href)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-fade bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          {...focus}
          className="fixed inset-x-0 top-[10vh] z-50 mx-auto w-[calc(100vw-1.5rem)] max-w-xl animate-rise overflow-hidden rounded-xl border bg-raised shadow-float"
        >
          <Radix.Title className="sr-only">Find anything</Radix.Title>
          <Command shouldFilter={false} label="Find anything" loop {...selection}>
            <div className="flex items-center gap-2.5 border-b px-3.5">
              <Search className="size-4 text-ink-faint" aria-hidden />
              <Command.Input
                value={query}
                onValueChange={setQuery}
                placeholder="A name, an id, a page or an action"
                className="h-12 flex-1 bg-transparent text-base outline-none placeholder:text-ink-faint"
              />
            </div>
            <Command.Empty className="px-3 py-8 text-center text-ink-faint text-sm">
              Nothing found.
            </Command.Empty>
            <Command.List className="max-h-[min(24rem,60vh)] overflow-y-auto p-1.5">
              {groups.map(({ heading, items }) => (
                <Command.Group key={heading} heading={heading} className={groupLook}>
                  {items.map(({ href, title, icon: Icon, hint }) => (
                    <Command.Item key={href} value={href} onSelect={go} className={itemLook}>
                      <Icon className="size-4 shrink-0 text-ink-faint" aria-hidden />
                      <span className="truncate">{title}</span>
                      {hint && (
                        <span className="ml-auto shrink-0 font-mono text-ink-faint text-xs">{hint}</span>
                      )}
                    </Command.Item>
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/**
 * Keeps the first result selected until the user moves on, since better results may arrive later, above the others.
 * Starts over each time the dialog opens.
 */
function useFirstUntilMoved(open: boolean, first = '') {
  const [value, onValueChange] = useState(first)
  const before = useRef(first)
  useEffect(() => {
    const last = before.current
    before.current = first
    onValueChange((now) => (open && now !== last ? now : first))
  }, [first, open])
  return { value, onValueChange }
}

function useFound(open: boolean, query: string): SearchHit[] {
  const [found, setFound] = useState<SearchHit[]>([])
  useEffect(() => {
    if (!open) return
    let stale = false
    const timer = setTimeout(
      async () => {
        const hits = await findAnything(query)
        if (!stale) setFound(hits)
      },
      query ? 120 : 0,
    )
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [open, query])
  return found
}
