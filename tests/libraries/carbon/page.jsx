import { useState } from "react";
import { createRoot } from "react-dom/client";
import "@carbon/styles/css/styles.css";
import { Accordion, AccordionItem, Button, Checkbox, ComboBox, ContentSwitcher, DataTable, DatePicker, DatePickerInput, Dropdown, FileUploaderButton, InlineNotification, MenuButton, MenuItem, Modal, MultiSelect, NumberInput, OverflowMenu, OverflowMenuItem, Pagination, RadioButton, RadioButtonGroup, Search, Select, SelectItem, Slider, Switch, Tab, TabList, TabPanel, TabPanels, Table, TableBody, TableCell, TableHead, TableHeader, TableRow, TableSelectRow, Tabs, TextArea, TextInput, Tile, Toggle, TreeNode, TreeView, ExpandableTile } from "@carbon/react";

const ITEMS = ["Lorem", "Ipsum", "Dolor"].map((text) => ({ id: text, text }));

function App() {
  const [open, setOpen] = useState(false);
  return (
    <><h1>Carbon</h1>
      <Dropdown id="drop" titleText="Dropdown title" label="Choose an option" items={ITEMS} itemToString={(item) => item?.text ?? ""} onChange={({ selectedItem }) => tell("drop", selectedItem.id)} />
      <MultiSelect id="multi" titleText="Multiselect title" label="Choose options" items={ITEMS} itemToString={(item) => item?.text ?? ""} onChange={({ selectedItems }) => tell("multi", selectedItems.map((each) => each.id))} />
      <ComboBox id="combo" titleText="ComboBox title" items={ITEMS} itemToString={(item) => item?.text ?? ""} onChange={({ selectedItem }) => tell("combo", selectedItem?.id)} />
      <Select id="select" labelText="Select an option" onChange={(event) => tell("select", event.target.value)}><SelectItem value="one" text="Option 1" /><SelectItem value="two" text="Option 2" /></Select>
      <TextInput id="text" labelText="Text input label" helperText="Helper text" onChange={(event) => tell("text", event.target.value)} /><TextArea id="area" labelText="Area label" onChange={(event) => tell("area", event.target.value)} /><Search labelText="Search" placeholder="Find your items" onChange={(event) => tell("query", event.target.value)} />
      <Checkbox id="box" labelText="Checkbox label" onChange={(_, { checked }) => tell("box", checked)} /><Toggle id="toggle" labelText="Toggle label" labelA="Off" labelB="On" onToggle={(on) => tell("toggle", on)} />
      <RadioButtonGroup legendText="Group label" name="radio" onChange={(value) => tell("radio", value)}><RadioButton id="r1" labelText="Radio 1" value="1" /><RadioButton id="r2" labelText="Radio 2" value="2" /></RadioButtonGroup>
      <NumberInput id="number" label="Number label" defaultValue={50} min={0} max={100} onChange={(_, { value }) => tell("number", Number(value))} /><Slider labelText="Slider label" value={30} min={0} max={100} onChange={({ value }) => tell("slider", value)} />
      <DatePicker datePickerType="single" value="04/17/2026" onChange={([day]) => tell("day", day.getDate())}><DatePickerInput id="date" labelText="Date label" placeholder="mm/dd/yyyy" /></DatePicker>
      <MenuButton label="Actions"><MenuItem label="First action" onClick={() => tell("menu", "first")} /><MenuItem label="More of them"><MenuItem label="Deep action" onClick={() => tell("menu", "deep")} /></MenuItem></MenuButton><OverflowMenu iconDescription="Options"><OverflowMenuItem itemText="Stop app" onClick={() => tell("overflow", "stop")} /></OverflowMenu>
      <Button onClick={() => setOpen(true)}>Launch modal</Button><Modal open={open} modalHeading="Add a custom domain" primaryButtonText="Add it" secondaryButtonText="Cancel" onRequestClose={() => setOpen(false)} onRequestSubmit={() => { setOpen(false); tell("modal", "added"); }}><p>Custom domains direct requests.</p></Modal>
      <InlineNotification title="Notification title" subtitle="Subtitle text" onClose={() => { tell("notice", "closed"); }} />
      <Tabs onChange={({ selectedIndex }) => tell("tab", selectedIndex)}><TabList aria-label="Tabs"><Tab>Dashboard</Tab><Tab>Monitoring</Tab></TabList><TabPanels><TabPanel>Panel 1</TabPanel><TabPanel>Panel 2</TabPanel></TabPanels></Tabs>
      <Accordion><AccordionItem title="Section 1 title" onHeadingClick={({ isOpen }) => tell("accordion", isOpen)}>Section text</AccordionItem></Accordion><ContentSwitcher onChange={({ name }) => tell("switcher", name)}><Switch name="one" text="First section" /><Switch name="two" text="Second section" /></ContentSwitcher>
      <TreeView label="Tree View" onSelect={(_, node) => tell("tree", node.activeNodeId ?? node.id)}><TreeNode id="ai" label="Artificial intelligence"><TreeNode id="ml" label="Machine learning" /></TreeNode></TreeView><Tile>Default tile</Tile>
      <DataTable rows={[{ id: "a", name: "Load Balancer 1", status: "Active" }, { id: "b", name: "Load Balancer 2", status: "Starting" }]} headers={[{ key: "name", header: "Name" }, { key: "status", header: "Status" }]} isSortable>{({ rows, headers, getTableProps, getHeaderProps, getRowProps, getSelectionProps }) => <Table {...getTableProps()}><TableHead><TableRow><th scope="col" />{headers.map((header) => <TableHeader key={header.key} {...getHeaderProps({ header })}>{header.header}</TableHeader>)}</TableRow></TableHead><TableBody>{rows.map((row) => <TableRow key={row.id} {...getRowProps({ row })}><TableSelectRow {...getSelectionProps({ row, onClick: () => tell("row", row.id) })} />{row.cells.map((cell) => <TableCell key={cell.id}>{cell.value}</TableCell>)}</TableRow>)}</TableBody></Table>}</DataTable>
      <Pagination totalItems={103} pageSizes={[10, 20]} onChange={({ page }) => tell("page", page)} /><FileUploaderButton labelText="Add file" onChange={(event) => tell("file", event.target.files[0].name)} /></>
  );
}

createRoot(document.getElementById("root")).render(<App />);
