'use client'

import { Menu } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { HomeLink } from '#components/brand/mark.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { NavList } from './nav-list.tsx'
import { PaletteButton } from './palette.tsx'

export function MobileBar({ account }: { account: ReactNode }) {
  const [open, setOpen] = useState(false)
  return (
    <header className="sticky top-0 z-30 flex h-13 items-center gap-2 border-b bg-canvas/90 px-3 backdrop-blur-md lg:hidden">
      <Dialog
        as="menu"
        title="Sluice"
        open={open}
        onOpenChange={setOpen}
        trigger={
          <Button tone="quiet" size="icon" className="!px-0" aria-label="Open the menu">
            <Menu aria-hidden />
          </Button>
        }
      >
        <div className="flex h-full flex-col justify-between gap-6">
          <NavList onFollow={() => setOpen(false)} />
          <div className="border-t pt-3">{account}</div>
        </div>
      </Dialog>
      <HomeLink href="/dashboard" className="mr-auto" />
      <PaletteButton look="icon" />
    </header>
  )
}
