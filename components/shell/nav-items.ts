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
