export const YOU = [
  { href: '/dashboard/settings', title: 'Profile' },
  { href: '/dashboard/settings/sessions', title: 'Sessions' },
  { href: '/dashboard/settings/security', title: 'Security' },
  { href: '/dashboard/settings/account', title: 'Delete account' },
]

export const WORKSPACE = [
  { href: '/dashboard/settings/workspace', title: 'General' },
  { href: '/dashboard/settings/members', title: 'Members' },
  { href: '/dashboard/settings/keys', title: 'Account keys' },
  { href: '/dashboard/settings/link-pages', title: 'Link pages' },
  { href: '/dashboard/settings/outputs', title: 'Webhooks' },
  { href: '/dashboard/settings/alerts', title: 'Alerts' },
  { href: '/dashboard/settings/audit', title: 'Audit log' },
]
