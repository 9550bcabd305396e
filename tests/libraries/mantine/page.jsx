import { createRoot } from "react-dom/client";
import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Accordion, ActionIcon, Alert, Autocomplete, Button, Checkbox, Chip, ColorInput, FileButton, HoverCard, MantineProvider, Menu, Modal, MultiSelect, NumberInput, Pagination, PasswordInput, PinInput, Popover, Radio, Rating, SegmentedControl, Select, Slider, Spoiler, Stepper, Switch, Tabs, TagsInput, TextInput, Tree } from "@mantine/core";
import { DatePickerInput, TimeInput } from "@mantine/dates";
import { useDisclosure } from "@mantine/hooks";

function App() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <><h1>Mantine</h1>
      <Select label="Library" defaultValue="React" data={["React", "Angular", "Vue"]} onChange={(value) => tell("library", value)} />
      <MultiSelect label="Libraries" defaultValue={["React"]} data={["React", "Angular", "Vue"]} onChange={(value) => tell("libraries", value)} />
      <Autocomplete label="City" data={["Rome", "Paris"]} onChange={(value) => tell("city", value)} /><TagsInput label="Tags" defaultValue={["one"]} onChange={(value) => tell("tags", value)} />
      <Checkbox label="I agree" onChange={(event) => tell("agree", event.currentTarget.checked)} /><Switch label="Notify" onChange={(event) => tell("notify", event.currentTarget.checked)} /><Chip onChange={(on) => tell("chip", on)}>Awesome chip</Chip>
      <Radio.Group label="Framework" onChange={(value) => tell("framework", value)}><Radio value="svelte" label="Svelte" /><Radio value="solid" label="Solid" /></Radio.Group>
      <SegmentedControl data={["Preview", "Code", "Export"]} onChange={(value) => tell("segment", value)} /><Rating defaultValue={2} onChange={(value) => tell("rating", value)} />
      <Slider thumbLabel="Zoom" defaultValue={40} onChange={(value) => tell("zoom", value)} w={200} /><NumberInput label="Age" defaultValue={20} onChange={(value) => tell("age", value)} />
      <PinInput aria-label="Pin" onComplete={(value) => tell("pin", value)} /><ColorInput label="Colour" defaultValue="#ff0000" onChange={(value) => tell("colour", value)} /><PasswordInput label="Secret" defaultValue="abc" /><TextInput label="Name" error="Invalid name" />
      <DatePickerInput label="Pick date" defaultValue="2026-04-17" onChange={(value) => tell("date", value)} /><TimeInput label="Time" onChange={(event) => tell("time", event.currentTarget.value)} />
      <Menu><Menu.Target><Button>Toggle menu</Button></Menu.Target><Menu.Dropdown><Menu.Label>Application</Menu.Label><Menu.Item rightSection="⌘K" onClick={() => tell("menu", "search")}>Search</Menu.Item><Menu.Sub><Menu.Sub.Target><Menu.Sub.Item>Products</Menu.Sub.Item></Menu.Sub.Target><Menu.Sub.Dropdown><Menu.Item onClick={() => tell("menu", "all")}>All products</Menu.Item></Menu.Sub.Dropdown></Menu.Sub></Menu.Dropdown></Menu>
      <Button onClick={open}>Open modal</Button><Modal opened={opened} onClose={close} title="Authentication"><TextInput label="User" onChange={(event) => tell("user", event.currentTarget.value)} /><Button onClick={close}>Sign in</Button></Modal>
      <Popover><Popover.Target><Button>Toggle popover</Button></Popover.Target><Popover.Dropdown>This is uncontrolled <Button onClick={() => tell("popover", true)}>Fine</Button></Popover.Dropdown></Popover>
      <HoverCard><HoverCard.Target><Button>Hover to reveal</Button></HoverCard.Target><HoverCard.Dropdown>Hover card text</HoverCard.Dropdown></HoverCard>
      <Tabs defaultValue="gallery" onChange={(value) => tell("tab", value)}><Tabs.List><Tabs.Tab value="gallery">Gallery</Tabs.Tab><Tabs.Tab value="messages">Messages</Tabs.Tab></Tabs.List><Tabs.Panel value="gallery">Gallery content</Tabs.Panel><Tabs.Panel value="messages">Messages content</Tabs.Panel></Tabs>
      <Accordion onChange={(value) => tell("accordion", value)}><Accordion.Item value="apples"><Accordion.Control>Apples</Accordion.Control><Accordion.Panel>Crisp and refreshing.</Accordion.Panel></Accordion.Item></Accordion>
      <Stepper active={1} onStepClick={(step) => tell("step", step)}><Stepper.Step label="First step" description="Create" /><Stepper.Step label="Second step" description="Verify" /></Stepper><Pagination total={10} onChange={(page) => tell("page", page)} getItemProps={(page) => ({ "aria-label": `Page ${page}` })} />
      <Tree data={[{ value: "src", label: "src", children: [{ value: "app", label: "App.tsx" }] }]} /><Alert title="Alert title" withCloseButton closeButtonLabel="Dismiss" onClose={() => tell("alert", "closed")}>Lorem ipsum</Alert>
      <ActionIcon aria-label="Settings" onClick={() => tell("icon", true)}>⚙</ActionIcon><FileButton onChange={(file) => tell("file", file.name)}>{(props) => <Button {...props}>Upload image</Button>}</FileButton><Spoiler maxHeight={20} showLabel="Show more" hideLabel="Hide" onExpandedChange={(on) => tell("spoiler", on)}><p>One</p><p>Two</p><p>Three</p></Spoiler></>
  );
}

createRoot(document.getElementById("root")).render(<MantineProvider><App /></MantineProvider>);
