'use client'

import { clsx } from 'clsx'
import {
  ChartNoAxesColumn,
  Database,
  FileUp,
  KeySquare,
  LayoutDashboard,
  type LucideIcon,
  Settings,
  Webhook,
  Workflow,
} from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { Pending } from '#components/shell/pending.tsx'

export const NAV_ITEMS: { href: string; title: string; icon: LucideIcon }[] = [
  { href: '/dashboard', title: 'Overview', icon: LayoutDashboard },
  { href: '/dashboard/data-stores', title: 'Data Stores', icon: Database },
  { href: '/dashboard/pipes', title: 'Pipes', icon: Workflow },
  { href: '/dashboard/senders', title: 'Senders', icon: KeySquare },
  { href: '/dashboard/files', title: 'Files', icon: FileUp },
  { href: '/dashboard/webhooks', title: 'Webhooks', icon: Webhook },
  { href: '/dashboard/usage', title: 'Usage', icon: ChartNoAxesColumn },
  { href: '/dashboard/settings', title: 'Settings', icon: Settings },
]

export function NavList({ onFollow }: { onFollow?: () => void }) {
  const path = usePathname()
  return (
    <nav aria-label="Dashboard">
      <ul className="space-y-0.5">
        {NAV_ITEMS.map(({ href, title, icon: Icon }) => {
          const here = href === '/dashboard' ? path === href : path.startsWith(href)
          return (
            <li key={href}>
              <Link
                href={href}
                onClick={onFollow}
                aria-current={here ? 'page' : undefined}
                className={clsx(
                  'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm',
                  here
                    ? 'bg-water-soft font-medium text-water'
                    : 'text-ink-soft hover:bg-hover hover:text-ink',
                )}
              >
                <Icon className="size-4" strokeWidth={1.8} aria-hidden />
                {title}
                <Pending />
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
