import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="sluice-icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden="true">
      {children}
    </svg>
  )
}

export const PauseIcon = () => (
  <Icon>
    <path d="M5.5 3.5v9m5-9v9" />
  </Icon>
)

export const PlayIcon = () => (
  <Icon>
    <path d="M5 3.5v9l7-4.5z" />
  </Icon>
)

export const RetryIcon = () => (
  <Icon>
    <path d="M12.5 8a4.5 4.5 0 1 1-1.4-3.2M12.5 2.5v3h-3" />
  </Icon>
)

export const CrossIcon = () => (
  <Icon>
    <path d="m4 4 8 8m0-8-8 8" />
  </Icon>
)
