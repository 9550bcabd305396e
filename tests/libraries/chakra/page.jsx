import { createRoot } from "react-dom/client";
import { Accordion, Button, ChakraProvider, Checkbox, CheckboxCard, Clipboard, CloseButton, Combobox, Dialog, Editable, Field, FileUpload, Input, Listbox, Menu, NumberInput, PinInput, Portal, RadioCard, RadioGroup, RatingGroup, SegmentGroup, Select, Slider, Switch, Tabs, TagsInput, TreeView, createListCollection, createTreeCollection, defaultSystem, useListCollection } from "@chakra-ui/react";

const FRAMEWORKS = [{ label: "React.js", value: "react" }, { label: "Vue.js", value: "vue" }, { label: "Angular", value: "angular" }];
const LIST = createListCollection({ items: FRAMEWORKS });
const SERIES = createListCollection({ items: ["Naruto", "One Piece"].map((label) => ({ label, value: label })) });
const TREE = createTreeCollection({ nodeToValue: (node) => node.id, nodeToString: (node) => node.name, rootNode: { id: "root", name: "", children: [{ id: "src", name: "src", children: [{ id: "app", name: "app.tsx" }] }, { id: "readme", name: "readme.md" }] } });

function Find() {
  const { collection, filter } = useListCollection({ initialItems: FRAMEWORKS, filter: (text, query) => text.toLowerCase().includes(query.toLowerCase()) });
  return (
    <Combobox.Root collection={collection} width="320px" onInputValueChange={(event) => filter(event.inputValue)} onValueChange={({ value }) => tell("found", value)}>
      <Combobox.Label>Find a framework</Combobox.Label><Combobox.Control><Combobox.Input placeholder="Type to search" /><Combobox.IndicatorGroup><Combobox.ClearTrigger /><Combobox.Trigger /></Combobox.IndicatorGroup></Combobox.Control>
      <Portal><Combobox.Positioner><Combobox.Content><Combobox.Empty>No items found</Combobox.Empty>{collection.items.map((item) => <Combobox.Item item={item} key={item.value}>{item.label}<Combobox.ItemIndicator /></Combobox.Item>)}</Combobox.Content></Combobox.Positioner></Portal>
    </Combobox.Root>
  );
}

function Fields() {
  return (
    <>
      <Select.Root collection={LIST} width="320px" defaultValue={["vue"]} onValueChange={({ value }) => tell("framework", value)}><Select.HiddenSelect /><Select.Label>Select framework</Select.Label><Select.Control><Select.Trigger><Select.ValueText placeholder="Select framework" /></Select.Trigger><Select.IndicatorGroup><Select.Indicator /></Select.IndicatorGroup></Select.Control>
        <Portal><Select.Positioner><Select.Content>{FRAMEWORKS.map((each) => <Select.Item item={each} key={each.value}>{each.label}<Select.ItemIndicator /></Select.Item>)}</Select.Content></Select.Positioner></Portal></Select.Root>
      <Find />
      <Checkbox.Root onCheckedChange={({ checked }) => tell("terms", checked)}><Checkbox.HiddenInput /><Checkbox.Control /><Checkbox.Label>Accept terms</Checkbox.Label></Checkbox.Root>
      <CheckboxCard.Root maxW="240px" onCheckedChange={({ checked }) => tell("card", checked)}><CheckboxCard.HiddenInput /><CheckboxCard.Control><CheckboxCard.Label>Next.js</CheckboxCard.Label><CheckboxCard.Indicator /></CheckboxCard.Control></CheckboxCard.Root>
      <Switch.Root onCheckedChange={({ checked }) => tell("switch", checked)}><Switch.HiddenInput /><Switch.Control><Switch.Thumb /></Switch.Control><Switch.Label>Activate Chakra</Switch.Label></Switch.Root>
      <RadioGroup.Root defaultValue="1" onValueChange={({ value }) => tell("option", value)}>{["1", "2"].map((each) => <RadioGroup.Item key={each} value={each}><RadioGroup.ItemHiddenInput /><RadioGroup.ItemIndicator /><RadioGroup.ItemText>Option {each}</RadioGroup.ItemText></RadioGroup.Item>)}</RadioGroup.Root>
      <RadioCard.Root defaultValue="next" onValueChange={({ value }) => tell("plan", value)}><RadioCard.Label>Select plan</RadioCard.Label>{["next", "vite"].map((each) => <RadioCard.Item key={each} value={each}><RadioCard.ItemHiddenInput /><RadioCard.ItemControl><RadioCard.ItemText>{each}</RadioCard.ItemText><RadioCard.ItemIndicator /></RadioCard.ItemControl></RadioCard.Item>)}</RadioCard.Root>
      <SegmentGroup.Root defaultValue="React" onValueChange={({ value }) => tell("segment", value)}><SegmentGroup.Indicator /><SegmentGroup.Items items={["React", "Vue", "Solid"]} /></SegmentGroup.Root>
      <Slider.Root maxW="200px" defaultValue={[40]} onValueChange={({ value }) => tell("slider", value[0])}><Slider.Label>Quantity</Slider.Label><Slider.ValueText /><Slider.Control><Slider.Track><Slider.Range /></Slider.Track><Slider.Thumbs /></Slider.Control></Slider.Root>
      <NumberInput.Root defaultValue="10" width="200px" onValueChange={({ value }) => tell("number", value)}><NumberInput.Label>Amount</NumberInput.Label><NumberInput.Control /><NumberInput.Input /></NumberInput.Root>
      <PinInput.Root onValueComplete={({ valueAsString }) => tell("pin", valueAsString)}><PinInput.HiddenInput /><PinInput.Label>Pin</PinInput.Label><PinInput.Control>{[0, 1, 2, 3].map((n) => <PinInput.Input key={n} index={n} />)}</PinInput.Control></PinInput.Root>
      <RatingGroup.Root count={5} defaultValue={3} onValueChange={({ value }) => tell("rating", value)}><RatingGroup.Label>Rating</RatingGroup.Label><RatingGroup.HiddenInput /><RatingGroup.Control /></RatingGroup.Root>
      <TagsInput.Root defaultValue={["React", "Chakra"]} onValueChange={({ value }) => tell("tags", value)}><TagsInput.Label>Add tags</TagsInput.Label><TagsInput.Control><TagsInput.Items /><TagsInput.Input placeholder="Add tag..." /></TagsInput.Control></TagsInput.Root>
      <Editable.Root defaultValue="Click to edit" onValueCommit={({ value }) => tell("edited", value)}><Editable.Preview /><Editable.Input /></Editable.Root>
      <Field.Root invalid><Field.Label>Email</Field.Label><Input placeholder="Enter your email" /><Field.ErrorText>This is an error text</Field.ErrorText></Field.Root>
      <FileUpload.Root onFileAccept={({ files }) => tell("file", files[0]?.name)}><FileUpload.HiddenInput /><FileUpload.Trigger asChild><Button>Upload file</Button></FileUpload.Trigger><FileUpload.List /></FileUpload.Root>
      <Listbox.Root collection={SERIES} width="320px" onValueChange={({ value }) => tell("listbox", value)}><Listbox.Label>Pick one</Listbox.Label><Listbox.Content>{SERIES.items.map((each) => <Listbox.Item item={each} key={each.value}><Listbox.ItemText>{each.label}</Listbox.ItemText><Listbox.ItemIndicator /></Listbox.Item>)}</Listbox.Content></Listbox.Root>
    </>
  );
}

function Layers() {
  return (
    <>
      <Menu.Root onSelect={({ value }) => tell("menu", value)}><Menu.Trigger asChild><Button variant="outline">Open menu</Button></Menu.Trigger><Portal><Menu.Positioner><Menu.Content><Menu.Item value="new">New Text File</Menu.Item><Menu.Root onSelect={({ value }) => tell("menu", value)}><Menu.TriggerItem>Open Recent</Menu.TriggerItem><Portal><Menu.Positioner><Menu.Content><Menu.Item value="panda">Panda</Menu.Item></Menu.Content></Menu.Positioner></Portal></Menu.Root></Menu.Content></Menu.Positioner></Portal></Menu.Root>
      <Dialog.Root><Dialog.Trigger asChild><Button>Open dialog</Button></Dialog.Trigger><Portal><Dialog.Backdrop /><Dialog.Positioner><Dialog.Content><Dialog.Header><Dialog.Title>Dialog Title</Dialog.Title></Dialog.Header><Dialog.Body><Input aria-label="First name" onChange={(event) => tell("first", event.target.value)} /></Dialog.Body><Dialog.Footer><Dialog.ActionTrigger asChild><Button onClick={() => tell("saved", true)}>Save</Button></Dialog.ActionTrigger></Dialog.Footer><Dialog.CloseTrigger asChild><CloseButton /></Dialog.CloseTrigger></Dialog.Content></Dialog.Positioner></Portal></Dialog.Root>
      <Tabs.Root defaultValue="members" onValueChange={({ value }) => tell("tab", value)}><Tabs.List><Tabs.Trigger value="members">Members</Tabs.Trigger><Tabs.Trigger value="projects">Projects</Tabs.Trigger></Tabs.List><Tabs.Content value="members">Manage your team members</Tabs.Content><Tabs.Content value="projects">Manage your projects</Tabs.Content></Tabs.Root>
      <Accordion.Root collapsible onValueChange={({ value }) => tell("accordion", value)}><Accordion.Item value="a"><Accordion.ItemTrigger>First Item<Accordion.ItemIndicator /></Accordion.ItemTrigger><Accordion.ItemContent><Accordion.ItemBody>Some value 1...</Accordion.ItemBody></Accordion.ItemContent></Accordion.Item></Accordion.Root>
      <TreeView.Root collection={TREE} maxW="200px" onSelectionChange={({ selectedValue }) => tell("tree", selectedValue)}><TreeView.Label>Tree</TreeView.Label><TreeView.Tree><TreeView.Node render={({ node, nodeState }) => nodeState.isBranch ? <TreeView.BranchControl><TreeView.BranchText>{node.name}</TreeView.BranchText></TreeView.BranchControl> : <TreeView.Item><TreeView.ItemText>{node.name}</TreeView.ItemText></TreeView.Item>} /></TreeView.Tree></TreeView.Root>
    </>
  );
}

createRoot(document.getElementById("root")).render(<ChakraProvider value={defaultSystem}><h1>Chakra UI</h1><Fields /><Layers /></ChakraProvider>);
