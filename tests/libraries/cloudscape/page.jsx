import { useState } from "react";
import { createRoot } from "react-dom/client";
import "@cloudscape-design/global-styles/index.css";
import Autosuggest from "@cloudscape-design/components/autosuggest";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Checkbox from "@cloudscape-design/components/checkbox";
import DatePicker from "@cloudscape-design/components/date-picker";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Flashbar from "@cloudscape-design/components/flashbar";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import Multiselect from "@cloudscape-design/components/multiselect";
import Pagination from "@cloudscape-design/components/pagination";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import Slider from "@cloudscape-design/components/slider";
import Table from "@cloudscape-design/components/table";
import Tabs from "@cloudscape-design/components/tabs";
import Tiles from "@cloudscape-design/components/tiles";
import Toggle from "@cloudscape-design/components/toggle";

const OPTIONS = [1, 2, 3].map((n) => ({ label: `Option ${n}`, value: `${n}` }));
const useTold = (name, first) => { const [value, set] = useState(first); return [value, (next, shown = next) => { set(next); tell(name, shown); }]; };

function Fields() {
  const [one, setOne] = useTold("select", OPTIONS[0]), [many, setMany] = useTold("multi", [OPTIONS[0]]), [text, setText] = useTold("suggest", ""), [day, setDay] = useTold("day", "2026-04-17");
  const [on, setOn] = useTold("toggle", false), [box, setBox] = useTold("box", false), [radio, setRadio] = useTold("radio", "first"), [tile, setTile] = useTold("tile", "a"), [part, setPart] = useTold("segment", "seg-1"), [size, setSize] = useTold("slider", 50), [name, setName] = useTold("name", "");
  return (
    <>
      <FormField label="Pick one"><Select selectedOption={one} options={OPTIONS} onChange={({ detail }) => setOne(detail.selectedOption, detail.selectedOption.value)} /></FormField>
      <FormField label="Pick many"><Multiselect selectedOptions={many} options={OPTIONS} placeholder="Choose options" deselectAriaLabel={(each) => `Remove ${each.label}`} onChange={({ detail }) => setMany(detail.selectedOptions, detail.selectedOptions.map((each) => each.value))} /></FormField>
      <FormField label="Suggestion"><Autosuggest value={text} options={[{ value: "Suggestion 1" }, { value: "Suggestion 2" }]} placeholder="Enter value" enteredTextLabel={(value) => `Use: "${value}"`} onChange={({ detail }) => setText(detail.value)} /></FormField>
      <FormField label="Certificate expiry"><DatePicker value={day} openCalendarAriaLabel={(chosen) => `Choose certificate expiry date${chosen ? `, selected date is ${chosen}` : ""}`} onChange={({ detail }) => setDay(detail.value)} /></FormField>
      <FormField label="Name" errorText={name ? "" : "Enter a name"}><Input value={name} onChange={({ detail }) => setName(detail.value)} /></FormField>
      <Toggle checked={on} onChange={({ detail }) => setOn(detail.checked)}>Toggle</Toggle><Checkbox checked={box} description="More about it" onChange={({ detail }) => setBox(detail.checked)}>Expire content</Checkbox>
      <RadioGroup ariaLabel="Choice" value={radio} items={[{ value: "first", label: "First choice" }, { value: "second", label: "Second choice", description: "This is the second option" }]} onChange={({ detail }) => setRadio(detail.value)} />
      <Tiles ariaLabel="Tiles" value={tile} items={[{ value: "a", label: "Item A", description: "First" }, { value: "b", label: "Item B", description: "Second" }]} onChange={({ detail }) => setTile(detail.value)} />
      <SegmentedControl selectedId={part} label="Segments" options={[{ text: "Segment 1", id: "seg-1" }, { text: "Segment 2", id: "seg-2" }]} onChange={({ detail }) => setPart(detail.selectedId)} />
      <Slider ariaLabel="Memory" value={size} min={0} max={100} onChange={({ detail }) => setSize(detail.value)} />
    </>
  );
}

function Layers() {
  const [open, setOpen] = useState(false), [chosen, setChosen] = useTold("rows", []), [page, setPage] = useTold("page", 1), [notes, setNotes] = useState([{ id: "n", type: "info", content: "This is an info flash message.", dismissible: true, dismissLabel: "Dismiss message", onDismiss: () => { setNotes([]); tell("flash", "dismissed"); } }]);
  return (
    <>
      <Flashbar items={notes} />
      <ButtonDropdown items={[{ text: "Start", id: "start" }, { text: "Instance settings", id: "settings", items: [{ text: "Attach", id: "attach" }] }]} expandableGroups onItemClick={({ detail }) => tell("action", detail.id)}>Actions</ButtonDropdown>
      <Button onClick={() => setOpen(true)}>Delete instance</Button><Modal visible={open} header="Delete it?" closeAriaLabel="Close modal" onDismiss={() => setOpen(false)} footer={<Button variant="primary" onClick={() => { setOpen(false); tell("deleted", true); }}>Ok</Button>}>Your description should go here</Modal>
      <Tabs onChange={({ detail }) => tell("tab", detail.activeTabId)} tabs={[{ label: "First tab label", id: "first", content: "First tab content area" }, { label: "Second tab label", id: "second", content: "Second tab content area" }]} />
      <ExpandableSection headerText="Static website hosting" onChange={({ detail }) => tell("expanded", detail.expanded)}><Box>Hosting is off.</Box></ExpandableSection>
      <Table selectionType="multi" trackBy="name" selectedItems={chosen} ariaLabels={{ selectionGroupLabel: "Items selection", allItemsSelectionLabel: () => "select all", itemSelectionLabel: (_, item) => item.name }} onSelectionChange={({ detail }) => setChosen(detail.selectedItems, detail.selectedItems.map((each) => each.name))} onSortingChange={({ detail }) => tell("sorted", detail.isDescending)} columnDefinitions={[{ id: "name", header: "Variable name", cell: (item) => item.name, sortingField: "name" }, { id: "type", header: "Type", cell: (item) => item.type }]} items={[{ name: "Item 1", type: "1A" }, { name: "Item 2", type: "1B" }]} />
      <Pagination currentPageIndex={page} pagesCount={5} ariaLabels={{ nextPageLabel: "Next page", previousPageLabel: "Previous page", pageLabel: (n) => `Page ${n}` }} onChange={({ detail }) => setPage(detail.currentPageIndex)} />
    </>
  );
}

createRoot(document.getElementById("root")).render(<><h1>Cloudscape</h1><Fields /><Layers /></>);
