import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Accordion, AlertDialog, Checkbox, ContextMenu, Dialog, DropdownMenu, HoverCard, Menubar, NavigationMenu, Popover, Progress, RadioGroup, Select, Slider, Switch, Tabs, Toast, Toggle, ToggleGroup, Toolbar, Tooltip } from "radix-ui";
import { Command } from "cmdk";
import "./page.css";

const FRUITS = ["Apple", "Banana", "Blueberry", "Grapes", "Pineapple"];

function FruitSelect() {
  return (
    <Select.Root defaultValue="Banana" onValueChange={(value) => tell("fruit", value)}>
      <Select.Trigger className="trigger" aria-label="Fruit"><Select.Value placeholder="Select a fruit…" /><Select.Icon>▾</Select.Icon></Select.Trigger>
      <Select.Portal><Select.Content className="layer"><Select.Viewport><Select.Group><Select.Label>Fruits</Select.Label>
        {FRUITS.map((each) => <Select.Item key={each} value={each} disabled={each === "Grapes"}><Select.ItemText>{each}</Select.ItemText><Select.ItemIndicator>✓</Select.ItemIndicator></Select.Item>)}
      </Select.Group></Select.Viewport></Select.Content></Select.Portal>
    </Select.Root>
  );
}

function Settings() {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild><button className="icon" aria-label="Customise options">☰</button></DropdownMenu.Trigger>
      <DropdownMenu.Portal><DropdownMenu.Content className="layer">
        <DropdownMenu.Item onSelect={() => tell("menu", "new tab")}>New Tab <div className="right">⌘+T</div></DropdownMenu.Item>
        <DropdownMenu.Item disabled>New Private Window</DropdownMenu.Item>
        <DropdownMenu.Sub><DropdownMenu.SubTrigger>More Tools <div className="right">▸</div></DropdownMenu.SubTrigger>
          <DropdownMenu.Portal><DropdownMenu.SubContent className="layer"><DropdownMenu.Item onSelect={() => tell("menu", "developer")}>Developer Tools</DropdownMenu.Item></DropdownMenu.SubContent></DropdownMenu.Portal></DropdownMenu.Sub>
        <DropdownMenu.Separator />
        <DropdownMenu.CheckboxItem checked={false} onCheckedChange={(on) => tell("bookmarks", on)}>Show Bookmarks</DropdownMenu.CheckboxItem>
        <DropdownMenu.RadioGroup value="pedro" onValueChange={(value) => tell("person", value)}>
          <DropdownMenu.RadioItem value="pedro">Pedro Duarte</DropdownMenu.RadioItem><DropdownMenu.RadioItem value="colm">Colm Tuite</DropdownMenu.RadioItem>
        </DropdownMenu.RadioGroup>
      </DropdownMenu.Content></DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Confirm() {
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger asChild><button>Delete account</button></AlertDialog.Trigger>
      <AlertDialog.Portal><AlertDialog.Overlay className="overlay" /><AlertDialog.Content className="dialog">
        <AlertDialog.Title>Are you absolutely sure?</AlertDialog.Title><AlertDialog.Description>Your data will be removed from our servers.</AlertDialog.Description>
        <AlertDialog.Cancel>Cancel</AlertDialog.Cancel><AlertDialog.Action onClick={() => tell("deleted", true)}>Yes, delete account</AlertDialog.Action>
      </AlertDialog.Content></AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function Profile() {
  return (
    <Dialog.Root>
      <Dialog.Trigger asChild><button>Edit profile</button></Dialog.Trigger>
      <Dialog.Portal><Dialog.Overlay className="overlay" /><Dialog.Content className="dialog">
        <Dialog.Title>Edit profile</Dialog.Title><Dialog.Description>Make changes to your profile here.</Dialog.Description>
        <fieldset><label htmlFor="name">Name</label><input id="name" defaultValue="Pedro Duarte" /></fieldset>
        <Dialog.Close asChild><button onClick={() => tell("name", document.getElementById("name").value)}>Save changes</button></Dialog.Close>
        <Dialog.Close asChild><button className="icon" aria-label="Close">×</button></Dialog.Close>
      </Dialog.Content></Dialog.Portal>
    </Dialog.Root>
  );
}

function Combobox() {
  const [open, setOpen] = useState(false), [value, setValue] = useState("");
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild><button role="combobox" aria-expanded={open}>{value || "Select framework..."}</button></Popover.Trigger>
      <Popover.Portal><Popover.Content className="layer"><Command><Command.Input placeholder="Search framework..." /><Command.List><Command.Empty>No framework found.</Command.Empty>
        <Command.Group>{["Next.js", "SvelteKit", "Nuxt.js", "Remix", "Astro"].map((each) => <Command.Item key={each} value={each} onSelect={(name) => { setValue(name); setOpen(false); tell("framework", name); }}>{each}</Command.Item>)}</Command.Group>
      </Command.List></Command></Popover.Content></Popover.Portal>
    </Popover.Root>
  );
}

function Bar() {
  return (
    <Menubar.Root className="row">
      <Menubar.Menu><Menubar.Trigger>File</Menubar.Trigger><Menubar.Portal><Menubar.Content className="layer"><Menubar.Item onSelect={() => tell("bar", "print")}>Print… <div className="right">⌘ P</div></Menubar.Item></Menubar.Content></Menubar.Portal></Menubar.Menu>
      <Menubar.Menu><Menubar.Trigger>Edit</Menubar.Trigger><Menubar.Portal><Menubar.Content className="layer"><Menubar.Item onSelect={() => tell("bar", "undo")}>Undo</Menubar.Item>
        <Menubar.Sub><Menubar.SubTrigger>Find ▸</Menubar.SubTrigger><Menubar.Portal><Menubar.SubContent className="layer"><Menubar.Item onSelect={() => tell("bar", "next")}>Find Next</Menubar.Item></Menubar.SubContent></Menubar.Portal></Menubar.Sub>
      </Menubar.Content></Menubar.Portal></Menubar.Menu>
    </Menubar.Root>
  );
}

function Notice() {
  const [open, setOpen] = useState(false);
  return (
    <Toast.Provider><button onClick={() => setOpen(true)}>Add to calendar</button>
      <Toast.Root className="toast" open={open} onOpenChange={setOpen} duration={60000}><Toast.Title>Scheduled: Catch up</Toast.Title><Toast.Description>Friday at 5:57 PM</Toast.Description>
        <Toast.Action asChild altText="Undo the event"><button onClick={() => tell("toast", "undone")}>Undo</button></Toast.Action></Toast.Root>
      <Toast.Viewport className="toasts" />
    </Toast.Provider>
  );
}

function App() {
  return (
    <Tooltip.Provider delayDuration={100}>
      <h1>Radix Primitives</h1>
      <section><FruitSelect /> <Combobox /> <Settings /></section>
      <section>
        <Checkbox.Root className="box" id="terms" onCheckedChange={(on) => tell("terms", on)}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root><label htmlFor="terms">Accept terms and conditions.</label>
        <label htmlFor="airplane">Airplane mode</label><Switch.Root className="switch" id="airplane" onCheckedChange={(on) => tell("airplane", on)}><Switch.Thumb className="thumb" /></Switch.Root>
        <RadioGroup.Root defaultValue="default" aria-label="View density" onValueChange={(value) => tell("density", value)}>
          {["default", "comfortable", "compact"].map((each) => <div key={each}><RadioGroup.Item className="box" value={each} id={each}><RadioGroup.Indicator>●</RadioGroup.Indicator></RadioGroup.Item><label htmlFor={each}>{each}</label></div>)}
        </RadioGroup.Root>
      </section>
      <section>
        <Slider.Root className="slider" defaultValue={[50]} max={100} step={1} onValueChange={(value) => tell("volume", value[0])}><Slider.Track className="track"><Slider.Range className="range" /></Slider.Track><Slider.Thumb className="thumb" aria-label="Volume" /></Slider.Root>
        <Progress.Root className="track" value={66} aria-label="Upload">66 of 100</Progress.Root>
      </section>
      <section>
        <Accordion.Root type="single" collapsible defaultValue="one" onValueChange={(value) => tell("accordion", value)}>
          <Accordion.Item value="one"><Accordion.Header><Accordion.Trigger>Is it accessible?</Accordion.Trigger></Accordion.Header><Accordion.Content>Yes. It adheres to the WAI-ARIA design pattern.</Accordion.Content></Accordion.Item>
          <Accordion.Item value="two"><Accordion.Header><Accordion.Trigger>Is it unstyled?</Accordion.Trigger></Accordion.Header><Accordion.Content>Yes, by default.</Accordion.Content></Accordion.Item>
        </Accordion.Root>
        <Tabs.Root defaultValue="account" onValueChange={(value) => tell("tab", value)}>
          <Tabs.List aria-label="Manage your account"><Tabs.Trigger value="account">Account</Tabs.Trigger><Tabs.Trigger value="password">Password</Tabs.Trigger></Tabs.List>
          <Tabs.Content value="account">Signed in as @peduarte.</Tabs.Content><Tabs.Content value="password"><label>New password <input type="password" onChange={(event) => tell("password", event.target.value)} /></label></Tabs.Content>
        </Tabs.Root>
      </section>
      <section>
        <ToggleGroup.Root type="single" defaultValue="center" aria-label="Text alignment" onValueChange={(value) => tell("align", value)}>{["left", "center", "right"].map((each) => <ToggleGroup.Item key={each} value={each} aria-label={`${each} aligned`}>≡</ToggleGroup.Item>)}</ToggleGroup.Root>
        <Toggle.Root aria-label="Toggle italic" onPressedChange={(on) => tell("italic", on)}><i>I</i></Toggle.Root>
        <Toolbar.Root className="row" aria-label="Formatting options"><Toolbar.Button onClick={() => tell("shared", true)}>Share</Toolbar.Button><Toolbar.Link href="#edited">Edited 2 hours ago</Toolbar.Link></Toolbar.Root>
      </section>
      <section>
        <Confirm /> <Profile /> <Bar /> <Notice />
        <ContextMenu.Root><ContextMenu.Trigger className="area">Right-click here.</ContextMenu.Trigger><ContextMenu.Portal><ContextMenu.Content className="layer"><ContextMenu.Item onSelect={() => tell("context", "back")}>Back</ContextMenu.Item><ContextMenu.Item onSelect={() => tell("context", "reload")}>Reload</ContextMenu.Item></ContextMenu.Content></ContextMenu.Portal></ContextMenu.Root>
        <HoverCard.Root openDelay={100}><HoverCard.Trigger asChild><a href="#radix">@radix_ui</a></HoverCard.Trigger><HoverCard.Portal><HoverCard.Content className="layer">Components, icons, colours <button onClick={() => tell("followed", true)}>Follow</button></HoverCard.Content></HoverCard.Portal></HoverCard.Root>
        <Tooltip.Root><Tooltip.Trigger asChild><button aria-label="Plus">+</button></Tooltip.Trigger><Tooltip.Portal><Tooltip.Content className="layer">Add to library</Tooltip.Content></Tooltip.Portal></Tooltip.Root>
        <NavigationMenu.Root><NavigationMenu.List className="row"><NavigationMenu.Item><NavigationMenu.Trigger>Learn ▾</NavigationMenu.Trigger><NavigationMenu.Content><a href="#stitches" onClick={() => tell("learned", "stitches")}>Stitches: CSS-in-JS with best-in-class developer experience.</a></NavigationMenu.Content></NavigationMenu.Item></NavigationMenu.List></NavigationMenu.Root>
      </section>
    </Tooltip.Provider>
  );
}

createRoot(document.getElementById("root")).render(<App />);
