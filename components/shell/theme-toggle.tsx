'use client'

import { Monitor, Moon, Sun } from 'lucide-react'
import { useEffect, useState } from 'react'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]
const ICONS = { system: Monitor, light: Sun, dark: Moon } as const

const LABELS: Record<Theme, string> = {
  system: 'Color mode: system',
  light: 'Color mode: light',
  dark: 'Color mode: dark',
}

/** The mode is stored in a cookie, so that the server renders it right away. */
export function ThemeToggle({ labels = LABELS }: { labels?: Record<Theme, string> }) {
  const [theme, setTheme] = useState<Theme>('system')
  useEffect(() => {
    const chosen = document.documentElement.dataset.theme
    if (chosen === 'light' || chosen === 'dark') setTheme(chosen)
  }, [])

  function cycle() {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!
    setTheme(next)
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
    document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=lax`
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
  }

  const Icon = ICONS[theme]
  return (
    <button
      type="button"
      onClick={cycle}
      aria-label={labels[theme]}
      title={labels[theme]}
      className="grid size-8 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
    >
      <Icon className="size-4" aria-hidden />
    </button>
  )
}
